# cmake -D NVCC=… -D BUILD=… and what installed.cmake needs -P cuda_test.cmake
#
# An outside project includes feedline in a `.cu` file: as it is, with CMAKE_CUDA_STANDARD set to
# 20, and to 17, where feedline says what it needs.

cmake_minimum_required(VERSION 3.25)
if(NOT NVCC)
  message(STATUS "[feedline skip] there is no nvcc")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
list(APPEND configure -S ${source}/cuda -D CMAKE_CUDA_COMPILER=${NVCC}
  -D CMAKE_CUDA_HOST_COMPILER=${CXX})

# Only newer versions of CMake pass C++20 to nvcc 13 if CUDA_STANDARD asks for it.
set(build ${WORK}/build)
foreach(standard "" "-DCMAKE_CUDA_STANDARD=20")
  must_run("configuring a project with a .cu file" ${configure} -B ${build} ${standard})
  must_run("building a project with a .cu file"
    ${CMAKE_COMMAND} --build ${build} --config ${CONFIG})
  must_run("running a program with a .cu file" ${build}/my_trainer)
  must_contain("a program with a .cu file" "${output}" "sum 499500")
endforeach()

must_run("configuring for C++17" ${configure} -B ${build} -D CMAKE_CUDA_STANDARD=17)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --config ${CONFIG}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX MATCHALL "error: [^\n]*" errors "${output}")
list(POP_FRONT errors first)
list(JOIN errors "\n" rest)
if(code EQUAL 0 OR NOT first MATCHES "feedline needs C\\+\\+20" OR
   NOT rest MATCHES "^[^\n]*stop_before_cpp20[^\n]*$")
  message(FATAL_ERROR "C++17 must end with 'feedline needs C++20', and no other error:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
