# Finds Arrow's C++ libraries, which read Parquet files: by their own package for CMake, or in the
# wheel of pyarrow. Sets FEEDLINE_HAS_PARQUET and feedline_parquet_libraries.

set(FEEDLINE_HAS_PARQUET OFF)
set(feedline_parquet_libraries "")
set(feedline_arrow_fault "")

if(NOT FEEDLINE_PARQUET STREQUAL "OFF" AND NOT FEEDLINE_STATIC_DEPENDENCIES)
  if(NOT FEEDLINE_PYARROW)
    find_package(Parquet CONFIG QUIET)  # it finds Arrow
    if(Parquet_FOUND AND Arrow_VERSION VERSION_LESS 15)
      set(feedline_arrow_fault "Arrow ${Arrow_VERSION} was found, and 15 is the oldest that serves")
      message(STATUS "Parquet is left out: ${feedline_arrow_fault}")
      set(Parquet_FOUND OFF)
    endif()
    foreach(target Parquet::parquet_shared Parquet::parquet_static)
      if(Parquet_FOUND AND TARGET ${target} AND NOT feedline_parquet_libraries)
        set(feedline_parquet_libraries ${target})
      endif()
    endforeach()
  endif()
  set(feedline_pyarrow "${FEEDLINE_PYARROW}")
  if(NOT feedline_parquet_libraries AND NOT feedline_pyarrow AND FEEDLINE_PARQUET STREQUAL "ON")
    foreach(python "${Python_EXECUTABLE}" python3)
      if(python AND NOT feedline_pyarrow)
        execute_process(
          COMMAND ${python} -c "import pyarrow; print(pyarrow.get_library_dirs()[0], end='')"
          OUTPUT_VARIABLE feedline_pyarrow ERROR_QUIET)
      endif()
    endforeach()
  endif()
  if(NOT feedline_parquet_libraries AND feedline_pyarrow)
    set(exports_openssl OFF)
    if(FEEDLINE_HAS_REMOTE OR FEEDLINE_PYTHON)
      feedline_exports_openssl("${feedline_pyarrow}" exports_openssl)
    endif()
    if(exports_openssl)
      set(feedline_arrow_fault "pyarrow's libparquet exports an OpenSSL of its own, which takes \
the place of the system's: libcurl and Python's ssl crash then; use Arrow's own packages \
(libparquet-dev of Apache's), or build feedline for C++ with -D FEEDLINE_WITHOUT=libcurl")
    else()
      feedline_arrow_in("${feedline_pyarrow}")
    endif()
    if(TARGET feedline_libraries::parquet)
      set(feedline_parquet_libraries feedline_libraries::parquet)
    endif()
  endif()
endif()

set(feedline_arrow_version "")
if(feedline_parquet_libraries)
  set(FEEDLINE_HAS_PARQUET ON)
  if(Arrow_VERSION)
    set(feedline_arrow_version "${Arrow_VERSION}")
  elseif(EXISTS "${feedline_pyarrow}/include/arrow/util/config.h")
    file(STRINGS "${feedline_pyarrow}/include/arrow/util/config.h" feedline_arrow_version
      REGEX "define ARROW_VERSION_STRING ")
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" feedline_arrow_version
      "${feedline_arrow_version}")
  endif()
  message(STATUS "Parquet files are read with Arrow ${feedline_arrow_version}: "
    "${feedline_parquet_libraries}")
elseif(FEEDLINE_PARQUET STREQUAL "ON")
  if(FEEDLINE_STATIC_DEPENDENCIES)
    set(feedline_arrow_fault "FEEDLINE_STATIC_DEPENDENCIES is, too, and Arrow is linked shared")
  elseif(NOT feedline_arrow_fault)
    set(feedline_arrow_fault "neither Arrow's package for CMake (Parquet) nor a pyarrow of python3 \
was found: install libparquet-dev of Apache's packages, or pyarrow, and set FEEDLINE_PYARROW to \
the folder that pyarrow.get_library_dirs() names")
  endif()
  message(FATAL_ERROR "FEEDLINE_PARQUET is ON, but ${feedline_arrow_fault}")
elseif(FEEDLINE_PYARROW AND feedline_arrow_fault)
  message(FATAL_ERROR "${feedline_arrow_fault}")
endif()
