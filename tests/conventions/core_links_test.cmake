# cmake -D NM=… -D CORE=libfeedline_core -D PROGRAM=… [-D CUDA=libfeedline_cuda]
#   [-D HDF5=libfeedline_hdf5] [-D IMAGES=libfeedline_images] [-D REMOTE=libfeedline_remote]
#   -P core_links_test.cmake
#
# feedline::core asks for no symbol of CUDA, HDF5, libjpeg, libpng, libcurl or pugixml, and a
# program of core alone loads none of these. The same search must find them in the libraries of the
# backends: else it would find them nowhere.

cmake_minimum_required(VERSION 3.25)
set(cuda_symbol " U (cuda|cu|cublas)[A-Z][A-Za-z0-9_]*")
set(hdf5_symbol " U H5[A-Z]*[a-z0-9_]+")
set(remote_symbol " U (curl_|_ZNK?4pugi)[A-Za-z0-9_]+")
set(image_symbol " U (jpeg|png)_[A-Za-z0-9_]+")

function(undefined_symbols library)
  execute_process(COMMAND ${NM} --undefined-only ${library}
    OUTPUT_VARIABLE symbols ERROR_VARIABLE words RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "nm ${library} failed: ${words}")
  endif()
  set(symbols "${symbols}" PARENT_SCOPE)
endfunction()

foreach(object ${CORE} ${PROGRAM})
  undefined_symbols(${object})
  if(symbols MATCHES "${cuda_symbol}" OR symbols MATCHES "${hdf5_symbol}" OR
     symbols MATCHES "${image_symbol}" OR symbols MATCHES "${remote_symbol}")
    message(FATAL_ERROR "${object} asks for${CMAKE_MATCH_0}: feedline::core must be free of CUDA, "
      "HDF5, libjpeg, libpng, libcurl and pugixml")
  endif()
endforeach()

if(CUDA)
  undefined_symbols(${CUDA})
  if(NOT symbols MATCHES "${cuda_symbol}")
    message(FATAL_ERROR "no symbol of CUDA's was found in ${CUDA}, where there must be some")
  endif()
endif()
if(HDF5)
  undefined_symbols(${HDF5})
  if(NOT symbols MATCHES "${hdf5_symbol}")
    message(FATAL_ERROR "no symbol of HDF5's was found in ${HDF5}, where there must be some")
  endif()
endif()
if(IMAGES)
  undefined_symbols(${IMAGES})
  if(NOT symbols MATCHES "${image_symbol}")
    message(FATAL_ERROR
      "no symbol of libjpeg's or libpng's was found in ${IMAGES}, where there must be some")
  endif()
endif()
if(REMOTE)
  undefined_symbols(${REMOTE})
  if(NOT symbols MATCHES "${remote_symbol}")
    message(FATAL_ERROR "no symbol of libcurl's was found in ${REMOTE}, where there must be some")
  endif()
endif()

execute_process(COMMAND ldd ${PROGRAM}
  OUTPUT_VARIABLE loaded ERROR_VARIABLE words RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT loaded MATCHES "libc\\.so")
  message(FATAL_ERROR "ldd ${PROGRAM} failed: ${loaded}${words}")
elseif(loaded MATCHES "lib(cuda|cudart|cublas|hdf5|jpeg|png|curl|pugixml)[^\n]*")
  message(FATAL_ERROR "a program of feedline::core alone loads ${CMAKE_MATCH_0}")
endif()
