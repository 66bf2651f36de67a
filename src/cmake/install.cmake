# `cmake --install`: headers, libraries, and a package for find_package(feedline). Each library that
# was built is a component of the package with its own export, so that a user of `core` needs
# neither CUDA nor HDF5.
#
# `cmake --install --component` takes one of three: `runtime` (shared libraries), `development`
# (headers, packages, links to the shared libraries, static libraries) and `tools` (the programs).

include(CMakePackageConfigHelpers)
set(feedline_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/feedline)

set(feedline_absent_headers PATTERN "*.in" EXCLUDE)
if(NOT TARGET feedline_cuda)
  list(APPEND feedline_absent_headers PATTERN "feedline/cuda" EXCLUDE)
endif()
if(NOT TARGET feedline_remote)
  list(APPEND feedline_absent_headers PATTERN "feedline/remote" EXCLUDE)
endif()
if(NOT TARGET feedline_hdf5)
  list(APPEND feedline_absent_headers PATTERN "feedline/hdf5" EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/feedline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development ${feedline_absent_headers})

install(FILES ${CMAKE_CURRENT_LIST_DIR}/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/feedline
  COMPONENT development)  # for programs that are built with ThreadSanitizer

if(FEEDLINE_DEB)  # whose packages keep the licence under their own names
  include(${CMAKE_CURRENT_LIST_DIR}/deb.cmake)
else()
  foreach(component runtime development tools)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
      COMPONENT ${component})
  endforeach()
endif()

target_include_directories(feedline_core
  PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set(feedline_components "")
foreach(component core cuda hdf5 images remote formats feedline)
  if(TARGET feedline_${component})
    list(APPEND feedline_components ${component})
    install(TARGETS feedline_${component} EXPORT feedline_${component}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
        NAMELINK_COMPONENT development)
    install(EXPORT feedline_${component} FILE feedline-${component}-targets.cmake
      NAMESPACE feedline:: DESTINATION ${feedline_package_dir} COMPONENT development)
  endif()
endforeach()

# Users of a static library link its dependencies themselves; users of a shared one do not.
get_target_property(feedline_core_type feedline_core TYPE)
if(feedline_core_type STREQUAL "STATIC_LIBRARY")
  set(feedline_is_static ON)
else()
  set(feedline_is_static OFF)
endif()
# Users must link the same HDF5: its version is in the headers.
set(feedline_hdf5_kind "")
if(TARGET feedline_hdf5)
  set(feedline_hdf5_kind "${HDF5_VERSION}")
  if(HDF5_IS_PARALLEL)
    string(APPEND feedline_hdf5_kind " (parallel)")
  endif()
endif()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/src/cmake/feedline-config.cmake.in
  ${PROJECT_BINARY_DIR}/feedline-config.cmake
  INSTALL_DESTINATION ${feedline_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/feedline-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/feedline-config.cmake
  ${PROJECT_BINARY_DIR}/feedline-config-version.cmake
  ${PROJECT_SOURCE_DIR}/src/cmake/feedline-libraries.cmake
  DESTINATION ${feedline_package_dir} COMPONENT development)

include(${CMAKE_CURRENT_LIST_DIR}/pkg-config.cmake)
