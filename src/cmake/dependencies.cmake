# What feedline is built from. Boost and spdlog are seen by src/ alone.

find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(spdlog 1.10 REQUIRED)

if(FEEDLINE_HAS_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

set(FEEDLINE_HAS_HDF5 OFF)
if(NOT FEEDLINE_HDF5 STREQUAL "OFF")
  find_package(HDF5 COMPONENTS C)
  if(HDF5_FOUND)
    set(FEEDLINE_HAS_HDF5 ON)
  elseif(FEEDLINE_HDF5 STREQUAL "ON")
    message(FATAL_ERROR "FEEDLINE_HDF5 is ON, but the HDF5 C library was not found: install libhdf5-dev or set HDF5_ROOT")
  endif()
endif()
