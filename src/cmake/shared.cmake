# Further settings of shared libraries, with BUILD_SHARED_LIBS=ON.
#
# The core also exports its internals for the other libraries. A second copy of them would have a
# second copy of the process's state, such as the setting of `map_files`.

target_compile_definitions(feedline_core PUBLIC FEEDLINE_SHARED)

# While the major version is 0, a new minor version may break programs linked before.
set(feedline_interface ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(feedline_exported ${CMAKE_CURRENT_BINARY_DIR}/exported.map)
configure_file(${CMAKE_CURRENT_LIST_DIR}/exported.map.in ${feedline_exported} @ONLY)

foreach(target IN LISTS feedline_targets)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY")
    continue()
  endif()
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${feedline_interface})
  # Calls within a library stay within it, even of exported functions. Symbols from static libraries
  # are not exported.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${feedline_exported}"
    "LINKER:--exclude-libs,ALL" "LINKER:--no-undefined" "LINKER:-Bsymbolic-functions")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${feedline_exported})
endforeach()
