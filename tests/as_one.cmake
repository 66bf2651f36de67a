# With CMAKE_UNITY_BUILD many sources of tests are compiled as one, too, which takes half the time.
#
# Sources give their helpers the same names. So each is read within a namespace of its own, after
# the headers that all sources of its unit include, which no source then reads again. A source that
# has something that must stand outside of namespaces is compiled by itself.

# feedline_compile_as_one(TARGET): unites the sources of a program of tests. To be called when it
# has all of them.
function(feedline_compile_as_one target)
  get_target_property(sources ${target} SOURCES)
  set(alone "")
  set(groups "")  # sources that are compiled with the same options
  foreach(source IN LISTS sources)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    set(text "")
    if(source MATCHES "^[a-z].*_test\\.cpp$" AND NOT definitions)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
      file(READ ${source} text)
    endif()
    if(NOT text OR text MATCHES "\n(#if|#define|extern \"C\"|template <>|namespace [a-zA-Z:]+ {)")
      list(APPEND alone ${source})
    else()
      string(MAKE_C_IDENTIFIER "${options}" group)
      list(APPEND groups ${group})
      list(APPEND sources_of_${group} ${source})
      set(options_of_${group} ${options})
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${alone})
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    feedline_add_units(${target} "${options_of_${group}}" ${sources_of_${group}})
  endforeach()
endfunction()

# feedline_add_units(TARGET OPTIONS SOURCES…): adds units of SOURCES to TARGET, as many in each as
# the library's units have (0: all), and has them compiled with OPTIONS, unless that is NOTFOUND.
function(feedline_add_units target options)
  set(sources ${ARGN})
  set(in_each ${CMAKE_UNITY_BUILD_BATCH_SIZE})
  if(in_each EQUAL 0)
    list(LENGTH sources in_each)
  endif()
  while(sources)
    list(SUBLIST sources 0 ${in_each} part)
    list(REMOVE_ITEM sources ${part})
    set(includes "")
    set(bodies "")
    foreach(source IN LISTS part)
      file(READ ${source} text)
      string(REGEX MATCHALL "\n#include [<\"][^\n]*" found "\n${text}")
      list(APPEND includes ${found})
      # Uses a path from tests/, so that ccache finds the unit again in another checkout.
      cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE file)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
      string(MAKE_C_IDENTIFIER "${file}" name)
      string(APPEND bodies "\nnamespace ${name} {\n#include \"${file}\"\n}\n")
    endforeach()
    list(REMOVE_DUPLICATES includes)
    list(JOIN includes "" heads)
    list(GET part 0 first)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/as_one/${target}/${first})
    file(CONFIGURE OUTPUT ${unit} CONTENT "${heads}\n${bodies}" @ONLY)
    target_sources(${target} PRIVATE ${unit})
    if(NOT options)
      set(options "")
    endif()
    # A source's names hide those of headers that only others include.
    set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS "${options};-Wno-shadow")
  endwhile()
endfunction()
