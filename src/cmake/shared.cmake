# With BUILD_SHARED_LIBS=ON: what shared libraries need besides.

target_compile_definitions(feedline_core PUBLIC FEEDLINE_SHARED)

# The other libraries use internals of the core, which does not export them. Each links the few that
# it needs from here. (Handlers of SIGBUS get along: src/io/file_mapping.cpp.)
add_library(feedline_core_internals STATIC $<TARGET_OBJECTS:feedline_core>)
set_target_properties(feedline_core_internals PROPERTIES LINKER_LANGUAGE CXX)
get_target_property(feedline_core_libraries feedline_core LINK_LIBRARIES)
target_link_libraries(feedline_core_internals INTERFACE ${feedline_core_libraries})

foreach(target IN LISTS feedline_targets)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY")
    continue()
  endif()
  # While the major version is 0, a new minor version may break what was linked before.
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  # What comes from a static library is nobody else's.
  set(exported ${CMAKE_CURRENT_LIST_DIR}/exported.map)
  target_link_options(${target} PRIVATE
    "LINKER:--version-script=${exported}" "LINKER:--exclude-libs,ALL" "LINKER:--no-undefined")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exported})
  if(NOT target STREQUAL "feedline_core")
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:feedline_core_internals>)
  endif()
endforeach()
