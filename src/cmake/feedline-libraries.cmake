# Finds optional libraries, and adds to CMake 3.25 what it does not know of CUDA 13. Used by
# feedline's build and by its installed package.

# feedline_before_cuda_toolkit(), then find_package(CUDAToolkit), then
# feedline_after_cuda_toolkit().
# CMake 3.25 sets a property of CUDA::nvToolsExt, and fails where a toolkit has no such library, as
# since CUDA 13. An interface target of that name stands in, and links the library if there is one.
macro(feedline_before_cuda_toolkit)
  set(feedline_nvtoolsext_stands_in OFF)
  if(CMAKE_VERSION VERSION_LESS 3.31 AND NOT TARGET CUDA::nvToolsExt)
    add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
    set(feedline_nvtoolsext_stands_in ON)
  endif()
endmacro()

macro(feedline_after_cuda_toolkit)
  if(feedline_nvtoolsext_stands_in AND CUDA_nvToolsExt_LIBRARY)
    set_target_properties(CUDA::nvToolsExt PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}"
      INTERFACE_LINK_LIBRARIES "${CUDA_nvToolsExt_LIBRARY}")
  endif()
  unset(feedline_nvtoolsext_stands_in)
endmacro()

# feedline_know_cuda20(), after the CUDA language is enabled: CMake 3.25 does not know nvcc's flag.
macro(feedline_know_cuda20)
  if(CMAKE_CUDA_COMPILER_LOADED AND NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
endmacro()

# Some of these have no CMake package, so they are found by header and file.

# Each has its header, then the names of its files.
set(feedline_library_libdeflate libdeflate.h deflate)
set(feedline_library_lz4 lz4.h lz4)
set(feedline_library_zstd zstd.h zstd)
set(feedline_library_blosc blosc.h blosc)
set(feedline_library_libaec libaec.h aec)
set(feedline_library_bzip2 bzlib.h bz2)
set(feedline_library_lzo lzo/lzo1x.h lzo2)
set(feedline_library_zfp zfp.h zfp)
set(feedline_library_blosc2 b2nd.h blosc2)
set(feedline_library_libzip zip.h zip)
set(feedline_library_libwebp webp/decode.h webp)
set(feedline_library_libtiff tiffio.h tiff)

# feedline_find_library(NAME): defines the target feedline_libraries::NAME, if the library exists.
function(feedline_find_library name)
  if(TARGET feedline_libraries::${name})
    return()
  endif()
  list(POP_FRONT feedline_library_${name} header)
  find_path(FEEDLINE_${name}_INCLUDE_DIR ${header})
  mark_as_advanced(FEEDLINE_${name}_INCLUDE_DIR)
  set(wanted FEEDLINE_${name}_INCLUDE_DIR)
  set(files "")
  foreach(file IN LISTS feedline_library_${name})
    find_library(FEEDLINE_${name}_${file}_LIBRARY ${file})
    mark_as_advanced(FEEDLINE_${name}_${file}_LIBRARY)
    list(APPEND wanted FEEDLINE_${name}_${file}_LIBRARY)
    list(APPEND files "${FEEDLINE_${name}_${file}_LIBRARY}")
  endforeach()
  foreach(variable IN LISTS wanted)
    if(NOT ${variable})
      return()
    endif()
  endforeach()
  add_library(feedline_libraries::${name} INTERFACE IMPORTED)
  set_target_properties(feedline_libraries::${name} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${FEEDLINE_${name}_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${files}")
endfunction()

# feedline_exports_openssl(FOLDER RESULT): ON if the libparquet of a wheel gives its own OpenSSL to
# the whole process. Also ON if that cannot be told, for want of `nm`.
function(feedline_exports_openssl folder result)
  set(${result} OFF PARENT_SCOPE)
  file(GLOB parquet LIST_DIRECTORIES OFF "${folder}/libparquet.so.*")
  foreach(library IN LISTS parquet)
    execute_process(COMMAND "${CMAKE_NM}" -D --defined-only "${library}"
      OUTPUT_VARIABLE symbols RESULT_VARIABLE code ERROR_QUIET)
    if(NOT code EQUAL 0 OR symbols MATCHES " T (SSL_CTX_new|EVP_MD_CTX_new)[@\n]")
      set(${result} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# feedline_arrow_in(FOLDER): the target feedline_libraries::parquet, of a wheel's libraries. They
# have no links for the linker, so that each is named by its whole path.
function(feedline_arrow_in folder)
  if(TARGET feedline_libraries::parquet)
    return()
  endif()
  file(GLOB parquet LIST_DIRECTORIES OFF "${folder}/libparquet.so.*")
  file(GLOB arrow LIST_DIRECTORIES OFF "${folder}/libarrow.so.*")
  list(LENGTH parquet parquet_count)
  list(LENGTH arrow arrow_count)
  if(NOT parquet_count EQUAL 1 OR NOT arrow_count EQUAL 1
      OR NOT EXISTS "${folder}/include/parquet/arrow/reader.h")
    set(feedline_arrow_fault "${folder} is not the folder of a pyarrow: it needs libparquet.so.*, \
libarrow.so.* and include/parquet" PARENT_SCOPE)
    return()
  endif()
  add_library(feedline_libraries::parquet INTERFACE IMPORTED GLOBAL)
  set_target_properties(feedline_libraries::parquet PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${folder}/include"
    INTERFACE_LINK_LIBRARIES "${parquet};${arrow}")
endfunction()
