# With FEEDLINE_DEB=ON (preset `deb`): three packages for Debian and Ubuntu, one for each component
# that `cmake --install` knows. docs/guide/installing.md says how they are made.

if(NOT BUILD_SHARED_LIBS OR NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR
    "FEEDLINE_DEB needs BUILD_SHARED_LIBS=ON and CMAKE_INSTALL_PREFIX=/usr: use the preset 'deb'")
endif()
set(feedline_deb_runtime libfeedline${PROJECT_VERSION_MAJOR})
set(feedline_deb_development libfeedline-dev)
set(feedline_deb_tools feedline-tools)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime development tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE feedline)
# A package's dependencies differ from system to system, and so does its version.
file(READ /etc/os-release system)
string(REGEX REPLACE ".*(^|\n)ID=\"?([a-z]+).*" "\\2" id "${system}")
string(REGEX REPLACE ".*\nVERSION_ID=\"?([0-9.]+).*" "\\1" number "${system}")
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~${id}${number}")
set(feedline_deb_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(CPACK_PACKAGE_CONTACT "The feedline authors <maintainers@feedline.example>" CACHE STRING
  "Maintainer of the Debian packages: a name and an address")

# ---- what each needs -----------------------------------------------------------------------------
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)  # on exactly the same version
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_COMPONENT_TOOLS_DEPENDS runtime)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake, pkgconf, ${feedline_deb_tools}")
# A new minor version may break programs linked before (the SONAME says so), but the package's name
# stays the same. So packages that link the libraries depend on this minor version.
math(EXPR next "${PROJECT_VERSION_MINOR} + 1")
set(shlibs "")
foreach(component core cuda hdf5 images remote formats)
  if(TARGET feedline_${component})
    string(APPEND shlibs "libfeedline_${component} ${feedline_interface} ${feedline_deb_runtime}"
      " (>= ${PROJECT_VERSION}), ${feedline_deb_runtime} (<< ${PROJECT_VERSION_MAJOR}.${next}~)\n")
  endif()
endforeach()
set(papers ${PROJECT_BINARY_DIR}/deb)
file(WRITE ${papers}/shlibs "${shlibs}")
file(WRITE ${papers}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${papers}/shlibs ${papers}/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# ---- what each says ------------------------------------------------------------------------------
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # the first line of each description is its own
if(TARGET feedline_cuda)
  string(CONCAT cuda "Built with CUDA ${CMAKE_CUDA_COMPILER_VERSION}, whose runtime is linked "
    "statically:\nof NVIDIA's software, the GPU's driver alone is needed.")
else()
  set(cuda "Built without CUDA: batches are for the CPU.")
endif()
set(about
"feedline reads minibatches from files (HDF5, NumPy, IDX, tar, images and
more) by several threads, and copies them to a GPU, beside the compute.")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
"minibatches for training, hidden behind the compute
${about}
These are the shared libraries.
${cuda}")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"headers and build files of the library feedline
${about}
These are the headers, a package for CMake's find_package, and files for
pkg-config. A compiler for C++20 is needed.
${cuda}")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION
"programs that convert and examine data for training
${about}
feedline-convert makes HDF5, NumPy files or records of any of these formats.
feedline-doctor examines a file and a machine, and recommends options.
${cuda}")

# ---- papers --------------------------------------------------------------------------------------
file(READ ${PROJECT_SOURCE_DIR}/LICENSE licence)
string(REGEX REPLACE ".*Copyright [(]c[)] ([^\n]*).*" "\\1" holders "${licence}")
string(REGEX REPLACE "^[^\n]*\n\n[^\n]*\n\n" "" licence "${licence}")
string(REGEX REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REGEX REPLACE "\n([^\n])" "\n \\1" licence "${licence}")
file(WRITE ${papers}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: feedline

Files: *
Copyright: ${holders}
License: Expat
 ${licence}")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if it is set
file(WRITE ${papers}/changelog.Debian
"feedline (${feedline_deb_version}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}. The file changelog.gz tells what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(COPY_FILE ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${papers}/changelog)
foreach(file changelog changelog.Debian)
  execute_process(COMMAND gzip --best --no-name --force ${papers}/${file}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${feedline_deb_${component}})
  install(FILES ${papers}/copyright ${papers}/changelog.gz ${papers}/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${feedline_deb_${component}} COMPONENT ${component})
endforeach()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)

include(CPack)
