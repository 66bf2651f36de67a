# Finds Arrow's C++ libraries, which read Parquet files: by their own package for CMake, or in the
# wheel of pyarrow. Sets FEEDLINE_HAS_PARQUET and feedline_parquet_libraries.

set(FEEDLINE_HAS_PARQUET OFF)
set(feedline_parquet_libraries "")
set(feedline_arrow_fault "")

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

if(NOT FEEDLINE_PARQUET STREQUAL "OFF" AND NOT FEEDLINE_STATIC_DEPENDENCIES)
  if(NOT FEEDLINE_PYARROW)
    find_package(Parquet CONFIG QUIET)  # it finds Arrow
    foreach(target Parquet::parquet_shared Parquet::parquet_static)
      if(TARGET ${target} AND NOT feedline_parquet_libraries)
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
    feedline_arrow_in("${feedline_pyarrow}")
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
