# An overlay port: it builds the source tree that contains it.
#   vcpkg install feedline --overlay-ports=FEEDLINE/src/cmake/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS options
  FEATURES
    cuda FEEDLINE_CUDA
    hdf5 FEEDLINE_HDF5
    parquet FEEDLINE_PARQUET
    tools FEEDLINE_PROGRAMS)
# Libraries that are not dependencies of the port are not searched for on the machine.
set(without "libdeflate\\;lz4\\;zstd\\;blosc\\;libaec\\;bzip2\\;lzo\\;zfp\\;blosc2")
string(APPEND without "\\;libwebp\\;libtiff")
if(NOT "images" IN_LIST FEATURES)
  string(APPEND without "\\;libjpeg\\;libpng\\;nlohmann-json")
endif()
if(NOT "images" IN_LIST FEATURES AND NOT "remote" IN_LIST FEATURES)
  string(APPEND without "\\;libpugixml")
endif()
if(NOT "remote" IN_LIST FEATURES)
  string(APPEND without "\\;libcurl")
endif()
if(NOT "npz" IN_LIST FEATURES)
  string(APPEND without "\\;libzip")
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${options} "-DFEEDLINE_WITHOUT=${without}"
    -DFEEDLINE_TESTS=OFF -DFEEDLINE_SAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/feedline)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES feedline-convert feedline-doctor AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
