# cmake -D SOURCE=… -D WORK=… -D GENERATOR=… -D CXX=… -D MAKE=… -P requirements_test.cmake
#
# A build that lacks what it needs ends before anything is compiled, and names all of it with its
# packages. FEEDLINE_STATIC_DEPENDENCIES takes static libraries, and refuses a shared one.

cmake_minimum_required(VERSION 3.25)

# configure(ARGUMENT…): its words into `output`, its result into `code`.
macro(configure)
  file(REMOVE_RECURSE ${WORK}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR}
      -D FEEDLINE_CUDA=OFF -D FEEDLINE_TESTS=OFF -D FEEDLINE_PROGRAMS=OFF -D FEEDLINE_SAMPLES=OFF
      ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
endmacro()

# refused(TEXT): the last configure() ended with that.
function(refused text)
  string(FIND "${output}" "${text}" at)
  if(code EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "this should have been refused with '${text}', and said:\n${output}")
  endif()
endfunction()

configure(-D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON
  -D CMAKE_DISABLE_FIND_PACKAGE_spdlog=ON -D CMAKE_DISABLE_FIND_PACKAGE_Python=ON
  -D FEEDLINE_PYTHON=ON)
refused("what was not found here: Boost (1.74 or newer), spdlog (1.10 or newer), Python with its \
headers (3.10 or newer); on Debian and Ubuntu: apt-get install libboost-dev libspdlog-dev \
python3-dev")

configure(-D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_DISABLE_FIND_PACKAGE_HDF5=ON
  -D CMAKE_DISABLE_FIND_PACKAGE_PNG=ON -D FEEDLINE_WITHOUT=libjpeg -D FEEDLINE_libzip_INCLUDE_DIR=)
if(NOT code EQUAL 0 OR NOT output MATCHES
    "Needed and found: Boost .1.74 or newer. [0-9.]+, zlib [0-9.]+, spdlog .1.10 or newer. [0-9.]+"
    OR NOT output MATCHES
      "left out: HDF5 .libhdf5-dev., libpng .libpng-dev., libzip .libzip-dev.[, ]")
  message(FATAL_ERROR "found and missing libraries were not told:\n${output}")
endif()

# A libparquet with an OpenSSL that others see, and one without.
foreach(exported SSL_CTX_new other)
  set(wheel ${WORK}/${exported})
  file(WRITE ${wheel}/exported.cpp "extern \"C\" void ${exported}() {}\n")
  execute_process(COMMAND ${CXX} -shared -fPIC -o ${wheel}/libparquet.so.1 ${wheel}/exported.cpp
    COMMAND_ERROR_IS_FATAL ANY)
  configure(-D CMAKE_CXX_COMPILER=${CXX} -D FEEDLINE_PYARROW=${wheel})
  if(exported STREQUAL "SSL_CTX_new")
    refused("pyarrow's libparquet exports an OpenSSL of its own")
  else()
    refused("is not the folder of a pyarrow: it needs libparquet.so.*")
  endif()
endforeach()

# Debian's spdlog is a shared library; its zlib is both.
configure(-D CMAKE_CXX_COMPILER=${CXX} -D FEEDLINE_STATIC_DEPENDENCIES=ON)
file(STRINGS ${WORK}/build/CMakeCache.txt zlib REGEX "^ZLIB_LIBRARY_RELEASE:")
if(NOT zlib MATCHES "\\.a$")
  message(FATAL_ERROR "FEEDLINE_STATIC_DEPENDENCIES has found ${zlib}")
endif()
refused("is a shared library: build a static one")

file(WRITE ${WORK}/old.sh "#!/bin/sh\nexec ${CXX} -U__GNUC__ -D__GNUC__=11 \"$@\"\n")
file(CHMOD ${WORK}/old.sh PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
if(CXX MATCHES "clang")
  file(WRITE ${WORK}/old.sh
    "#!/bin/sh\nexec ${CXX} -U__clang_major__ -D__clang_major__=13 \"$@\"\n")
endif()
configure(-D CMAKE_CXX_COMPILER=${WORK}/old.sh)
refused("feedline needs g++ 12 or clang 14 or newer, and found ")

set(ENV{PATH} ${WORK}/none)
unset(ENV{CXX})
configure(-D CMAKE_MAKE_PROGRAM=${MAKE})
refused("there is none: install g++ 12 or clang 14 or newer; on Debian and Ubuntu: apt-get install \
g++")
file(REMOVE_RECURSE ${WORK})
