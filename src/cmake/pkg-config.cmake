# Files for pkg-config: feedline-core, feedline-hdf5 and so on, like the package's components, and
# feedline for everything built. A single file would make users of the core link HDF5 and CUDA.
#
# Users of a static library link its dependencies themselves. There is no shared library beside it,
# so they are listed in Libs, and `pkg-config --libs` prints them without --static.

# feedline_pkg_config_links(TARGET): collects what users of the target link besides it: other
# components in `required`, flags in `flags`.
function(feedline_pkg_config_links target)
  set(required "")
  set(flags "")
  set(seen "")
  set(queue ${target})
  while(queue)
    list(POP_FRONT queue item)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
    # Other generator expressions concern only the build.
    if(item IN_LIST seen OR item MATCHES "\\$<")
      continue()
    endif()
    list(APPEND seen "${item}")
    string(REGEX REPLACE "^feedline_" "" component "${item}")
    if(NOT item STREQUAL target AND component IN_LIST feedline_components)
      list(APPEND required feedline-${component})
      continue()
    endif()
    set(file "${item}")
    if(TARGET "${item}")
      get_target_property(links ${item} INTERFACE_LINK_LIBRARIES)
      if(links)
        list(APPEND queue ${links})
      endif()
      feedline_file_of(file ${item})
    endif()
    string(REGEX REPLACE "\\.so\\.[0-9.]+$" ".so" link "${file}")
    if(NOT EXISTS "${link}" AND EXISTS "${file}")  # pyarrow's, which have no link for the linker
      list(APPEND flags "${file}")
    elseif(file MATCHES "^(.*)/lib([^/]+)\\.(so|a)[0-9.]*$")
      if(NOT CMAKE_MATCH_1 IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND flags "-L${CMAKE_MATCH_1}")
      endif()
      list(APPEND flags "-l${CMAKE_MATCH_2}")
    elseif(file MATCHES "^[-/]")
      list(APPEND flags "${file}")
    elseif(file)
      list(APPEND flags "-l${file}")
    endif()
  endwhile()
  list(JOIN required ", " required)
  list(JOIN flags " " flags)
  set(required "${required}" PARENT_SCOPE)
  set(flags "${flags}" PARENT_SCOPE)
endfunction()

# feedline_file_of(RESULT TARGET): the library's file; for feedline's own libraries, the name; empty
# if there is none.
function(feedline_file_of result target)
  set(${result} "" PARENT_SCOPE)
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  if(type MATCHES "^(INTERFACE|OBJECT)_LIBRARY$")
    return()
  elseif(NOT imported)
    set(${result} ${target} PARENT_SCOPE)
    return()
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION_${configurations})
    get_target_property(location ${target} "${property}")
    if(location)
      set(${result} "${location}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Relative paths, so that an installation may be moved; absolute ones for folders given so.
string(REGEX REPLACE "[^/]+" ".." feedline_up "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(feedline_pc_prefix "\${pcfiledir}/${feedline_up}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(feedline_pc_prefix "${CMAKE_INSTALL_PREFIX}")
endif()
foreach(kind INCLUDEDIR LIBDIR)
  set(feedline_pc_${kind} "\${prefix}")
  cmake_path(APPEND feedline_pc_${kind} "${CMAKE_INSTALL_${kind}}")
endforeach()
set(feedline_pc_define "")
if(NOT feedline_is_static)
  set(feedline_pc_define "-DFEEDLINE_SHARED")
endif()

foreach(component IN LISTS feedline_components)
  set(name feedline-${component})
  set(title "feedline's ${component}")
  if(component STREQUAL "feedline")
    set(name feedline)
    set(title "all that was built of feedline")
  endif()
  feedline_pkg_config_links(feedline_${component})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pkg-config/${name}.pc @ONLY CONTENT
[[prefix=@feedline_pc_prefix@
includedir=@feedline_pc_INCLUDEDIR@
libdir=@feedline_pc_LIBDIR@

Name: @name@
Description: Minibatches to the GPU, hidden behind compute: @title@. Compile with -std=c++20.
Version: @PROJECT_VERSION@
Requires: @required@
Cflags: -I${includedir} @feedline_pc_define@
Libs: -L${libdir} @flags@
]])
  install(FILES ${PROJECT_BINARY_DIR}/pkg-config/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
