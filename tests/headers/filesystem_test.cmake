# cmake -D CXX=compiler -D INCLUDE=folder -D WORK=folder -P filesystem_test.cmake: <filesystem> is
# most of the lines that a program would compile with feedline, so paths are strings in public
# headers, and none of them includes it.

cmake_minimum_required(VERSION 3.25)

# includes_filesystem(RESULT TEXT): whether a source file of this text includes it, by any way.
function(includes_filesystem result text)
  file(WRITE ${WORK}/includes.cpp "${text}")
  execute_process(COMMAND ${CXX} -std=c++20 -I ${INCLUDE} -M ${WORK}/includes.cpp
    OUTPUT_VARIABLE files ERROR_VARIABLE words RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "this cannot be preprocessed:\n${text}\n${words}")
  endif()
  string(REGEX MATCH "/filesystem[ \n]" found "${files} ")
  string(COMPARE NOTEQUAL "${found}" "" found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

includes_filesystem(control "#include <feedline/feedline.hpp>\n#include <filesystem>\n")
if(NOT control)
  message(FATAL_ERROR "this test does not see <filesystem> where it is included")
endif()

file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/*.hpp)
# Users need not have the headers that these include from others.
list(FILTER headers EXCLUDE REGEX "^feedline/(interop/(torch_|cuda_).*|torch)[.]hpp$")
list(LENGTH headers count)
if(count LESS 50)
  message(FATAL_ERROR
    "only ${count} headers found under ${INCLUDE}: this test looks in the wrong place")
endif()
list(JOIN headers ">\n#include <" all)
includes_filesystem(found "#include <${all}>\n")
if(found)
  message(FATAL_ERROR "a public header includes <filesystem>: paths are std::string there")
endif()
message(STATUS "${count} public headers do without <filesystem>")
