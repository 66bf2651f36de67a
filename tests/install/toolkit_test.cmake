# cmake -D SOURCE=… -D WORK=… -D GENERATOR=… -D CXX=… -D LOOK_FOR=… -P toolkit_test.cmake
#
# LOOK_FOR=compiler: a build folder that remembers that there was no CUDA compiler asks one that
# came.
# LOOK_FOR=nvtoolsext: a toolkit is found by CMake 3.25's module, whether it has nvToolsExt or not.

cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})

# configure(ARGUMENT…): configures the project in `toolkit`; its words are in `output`.
function(configure)
  execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/toolkit
      -B ${WORK}/build -D CMAKE_CXX_COMPILER=${CXX}
      -D SOURCE=${SOURCE} -D LOOK_FOR=${LOOK_FOR} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "configuring failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(LOOK_FOR STREQUAL "compiler")
  # A compiler that works nowhere, but tells that it was asked.
  file(WRITE ${WORK}/bin/nvcc "#!/bin/sh\necho asked >>${WORK}/asked\nexit 1\n")
  file(CHMOD ${WORK}/bin/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(ENV{PATH} "${WORK}/bin:$ENV{PATH}")
  unset(ENV{CUDACXX})
  configure(-D CMAKE_CUDA_COMPILER=NOTFOUND)
  if(NOT EXISTS ${WORK}/asked)
    message(FATAL_ERROR "nvcc is on the PATH now, and nobody asked it:\n${output}")
  endif()
else()
  configure()
  configure(-D NVTOOLSEXT=${WORK}/libnvToolsExt.so)
  if(NOT output MATCHES "CUDA::nvToolsExt links ${WORK}/libnvToolsExt.so")
    message(FATAL_ERROR "CUDA::nvToolsExt does not link the toolkit's library:\n${output}")
  endif()
endif()
file(REMOVE_RECURSE ${WORK})
