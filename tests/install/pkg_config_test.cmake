# cmake -D PKG_CONFIG=… -D BUILD=… and what installed.cmake needs -P pkg_config_test.cmake
#
# A program is compiled and linked with pkg-config's flags, and runs: for all parts, and for the
# core alone.

cmake_minimum_required(VERSION 3.25)
if(NOT PKG_CONFIG)
  message(STATUS "[feedline skip] there is no pkg-config")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
file(GLOB_RECURSE file ${prefix}/feedline.pc)
cmake_path(GET file PARENT_PATH folder)
cmake_path(GET folder PARENT_PATH libraries)
set(ENV{PKG_CONFIG_PATH} ${folder})
set(ENV{LD_LIBRARY_PATH} ${libraries})

# ask(WORD…): what pkg-config says, as a list in `answer`.
function(ask)
  execute_process(COMMAND ${PKG_CONFIG} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE errors
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "pkg-config ${ARGN} failed: ${errors}")
  endif()
  separate_arguments(text UNIX_COMMAND "${text}")
  set(answer "${text}" PARENT_SCOPE)
endfunction()

# build_and_run(NAME EXPECTED DEFINITION…): the consumer, with `pkg-config --cflags --libs NAME`.
function(build_and_run name expected)
  list(TRANSFORM ARGN PREPEND -D OUTPUT_VARIABLE definitions)
  separate_arguments(flags UNIX_COMMAND "${CXX_FLAGS}")
  foreach(static "" --static)
    ask(${static} --cflags --libs ${name})
    must_run("compiling with pkg-config's ${name}"
      ${CXX} -std=c++20 ${flags} ${definitions} ${source}/consumer.cpp -o ${WORK}/${name} ${answer})
    must_run("running a program of ${name}" ${WORK}/${name})
    must_contain("a program of ${name}" "${output}" ${expected})
  endforeach()
endfunction()

set(expected "sum 499500" "images 3" "formats 1")
set(definitions WITH_FORMATS)
foreach(part CUDA HDF5 REMOTE)
  if(HAS_${part})
    string(TOLOWER "${part} 1" line)
    list(APPEND expected ${line})
    list(APPEND definitions WITH_${part})
  endif()
endforeach()
build_and_run(feedline "${expected}" ${definitions})
build_and_run(feedline-core "sum 499500")

ask(--libs feedline-core)
if(answer MATCHES "hdf5|cuda|jpeg|png|feedline_[^c]")
  message(FATAL_ERROR "a user of feedline-core would link more than the core: ${answer}")
endif()
ask(--modversion feedline)
file(READ ${prefix}/include/feedline/version.hpp header)
string(REGEX MATCHALL "_(MAJOR|MINOR|PATCH) [0-9]+" numbers "${header}")
list(TRANSFORM numbers REPLACE "[^0-9]" "")
list(JOIN numbers "." version)
if(NOT answer STREQUAL version)
  message(FATAL_ERROR "pkg-config says version ${answer}, the headers ${version}")
endif()
file(REMOVE_RECURSE ${WORK})
