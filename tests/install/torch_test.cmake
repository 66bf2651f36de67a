# cmake -D TORCH=… and what installed.cmake needs -P torch_test.cmake
#
# An outside project finds feedline and Torch, includes feedline/torch.hpp, links and runs.

cmake_minimum_required(VERSION 3.25)
if(NOT TORCH)
  message(STATUS "[feedline skip] the build has not found Torch")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
must_run("configuring a project with libtorch"
  ${configure} -S ${source}/torch -B ${WORK}/build -D Torch_ROOT=${TORCH})
must_run("building a project with libtorch"
  ${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG})
must_run("running a program with libtorch" ${WORK}/build/my_trainer)
must_contain("a program with libtorch" "${output}" "sum 499500")
file(REMOVE_RECURSE ${WORK})
