# Libraries that feedline uses where they are there, and of which not every one comes with a CMake package: found by header
# and file. Used by feedline's build and, for a static feedline, by its installed package.

# Header, then the names of the files.
set(feedline_library_libdeflate libdeflate.h deflate)
set(feedline_library_lz4 lz4.h lz4)
set(feedline_library_zstd zstd.h zstd)
set(feedline_library_blosc blosc.h blosc)
set(feedline_library_libaec libaec.h aec)
set(feedline_library_libzip zip.h zip)

# feedline_find_library(NAME): the target feedline_libraries::NAME, if the library is there.
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
    INTERFACE_INCLUDE_DIRECTORIES "${FEEDLINE_${name}_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${files}")
endfunction()
