# cmake -D BUILD=… -D WORK=… -D CONFIG=… -D GENERATOR=… -D CXX=… -D CXX_FLAGS=… -D HAS_CUDA=…
#       -D HAS_HDF5=… -P install_test.cmake
#
# Installs the build, moves what was installed elsewhere, and builds and runs outside projects
# against it.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)

# ---- what was installed ----------------------------------------------------------------------
file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/*)
foreach(wanted
    include/feedline/feedline.hpp include/feedline/version.hpp share/doc/feedline/LICENSE
    share/feedline/tsan.supp)
  if(NOT wanted IN_LIST installed)
    message(FATAL_ERROR "${wanted} was not installed, but ${installed}")
  endif()
endforeach()
set(ours "^(include/feedline|share/doc/feedline/LICENSE$|share/feedline/tsan.supp$")
string(APPEND ours "|bin/feedline-(convert|doctor)$")
string(APPEND ours "|lib[^/]*(/[^/]*)?/(libfeedline_|cmake/feedline/|pkgconfig/feedline))")
foreach(file IN LISTS installed)
  if(NOT file MATCHES "${ours}")
    message(FATAL_ERROR "${file} was installed: only feedline's own headers, libraries, package "
      "and programs are")
  elseif(file MATCHES "\\.(cmake|hpp|pc)$")
    file(READ ${prefix}/${file} text)
    if(text MATCHES "[Bb]oost")
      message(FATAL_ERROR "${file} mentions Boost: a user of feedline would need it")
    endif()
    string(FIND "${text}" "${BUILD}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names the build folder: what is installed cannot be moved")
    endif()
  endif()
endforeach()

# No name of a source within a folder, as __FILE__ is, be it of this machine or relative to it.
# Where assertions are on, they name theirs.
if(CONFIG MATCHES "^(Release|MinSizeRel)$")
  execute_process(COMMAND grep --recursive --text --only-matching --extended-regexp
      "[a-z./]*/src/(batch|cuda|dataset|detail|hdf5|image|io|loader|reader)/[a-z_/]+[.](cpp|cu|hpp)"
      ${prefix} --include=libfeedline_* --include=feedline-*
    RESULT_VARIABLE code OUTPUT_VARIABLE output)
  if(NOT code EQUAL 1)  # 0: found; 2: failed
    message(FATAL_ERROR "what is installed names where it was built:\n${output}")
  endif()
endif()

# The programs start where they were moved to: shared libraries are found beside it.
if(EXISTS ${prefix}/bin/feedline-convert)
  must_run("running the installed feedline-convert" ${prefix}/bin/feedline-convert --help)
  must_contain("feedline-convert --help" "${output}" "--output")
endif()
if(EXISTS ${prefix}/bin/feedline-doctor)
  must_run("running the installed feedline-doctor" ${prefix}/bin/feedline-doctor --help)
  must_contain("feedline-doctor --help" "${output}" "--picture")
endif()

# ---- a project that wants all ----------------------------------------------------------------
must_run("configuring a project that uses feedline"
  ${configure} -S ${source}/whole -B ${WORK}/whole)
must_contain("the package found" "${output}" "feedline_DIR is ${prefix}/")
must_run("building a project that uses feedline"
  ${CMAKE_COMMAND} --build ${WORK}/whole --config ${CONFIG})
must_run("running a program that uses feedline" ${WORK}/whole/my_trainer)
set(expected "sum 499500" "images 3" "formats 1" "mapped 0")
if(HAS_CUDA)
  list(APPEND expected "cuda 1")
endif()
if(HAS_HDF5)
  list(APPEND expected "hdf5 1")
endif()
must_contain("a program that uses feedline" "${output}" ${expected})

# ---- a project that wants the core alone, with no CUDA, HDF5, libjpeg or libpng to be found --
must_run("configuring a project that uses feedline::core"
  ${configure} -S ${source}/core_alone -B ${WORK}/core
  -D CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -D CMAKE_DISABLE_FIND_PACKAGE_HDF5=ON
  -D CMAKE_DISABLE_FIND_PACKAGE_JPEG=ON -D CMAKE_DISABLE_FIND_PACKAGE_PNG=ON)
must_run("building a project that uses feedline::core"
  ${CMAKE_COMMAND} --build ${WORK}/core --config ${CONFIG})
must_run("running a program that uses feedline::core" ${WORK}/core/my_trainer)
must_contain("a program that uses feedline::core" "${output}" "sum 499500")

# ---- what must be refused --------------------------------------------------------------------
execute_process(COMMAND ${configure} -S ${source}/refused -B ${WORK}/version -D WANTED_VERSION=0.1
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
  message(FATAL_ERROR "a project that asks for another minor version was given this one")
endif()
must_contain("asking for version 0.1" "${output}" "requested version \"0.1\"")

execute_process(COMMAND ${configure} -S ${source}/refused -B ${WORK}/component
  -D WANTED_COMPONENT=teapot
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
  message(FATAL_ERROR "a project that asks for a component that does not exist was configured")
endif()
must_contain("asking for a component that does not exist" "${output}"
  "built[ \n]+without:[ \n]+teapot")

if(HAS_HDF5)
  execute_process(COMMAND ${configure} -S ${source}/refused -B ${WORK}/hdf5
      -D WANTED_COMPONENT=hdf5 -D OTHER_HDF5=1.99.1
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(code EQUAL 0)
    message(FATAL_ERROR "a project that has found another HDF5 before was configured")
  endif()
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  must_contain("a project with another HDF5" "${output}"
    "was built with HDF5 [0-9.]+( .parallel.)?, and this project has found HDF5 1.99.1"
    "call find_package.feedline. before find_package.HDF5., set HDF5_ROOT to the folder of HDF5")
endif()

file(REMOVE_RECURSE ${WORK})
