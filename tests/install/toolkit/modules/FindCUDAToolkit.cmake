# Does with CUDA::nvToolsExt what CMake 3.25's module does. NVTOOLSEXT: the library of a toolkit
# that has it.

if(NVTOOLSEXT)
  set(CUDA_nvToolsExt_LIBRARY ${NVTOOLSEXT} CACHE FILEPATH "")
  if(NOT TARGET CUDA::nvToolsExt)
    add_library(CUDA::nvToolsExt UNKNOWN IMPORTED)
  endif()
endif()
set_property(TARGET CUDA::nvToolsExt PROPERTY DEPRECATION "use CUDA::nvtx3")
set(CUDAToolkit_INCLUDE_DIRS ${CMAKE_CURRENT_LIST_DIR})
set(CUDAToolkit_FOUND TRUE)
