# The sources of src/image/sets in feedline::images, and their libraries.

file(GLOB feedline_image_sets CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/image/sets/*.cpp)
target_sources(feedline_images PRIVATE ${feedline_image_sets})
target_compile_definitions(feedline_images PRIVATE
  $<$<BOOL:${FEEDLINE_HAS_JSON}>:FEEDLINE_HAS_JSON>
  $<$<BOOL:${FEEDLINE_HAS_PUGIXML}>:FEEDLINE_HAS_PUGIXML>)
if(FEEDLINE_HAS_JSON)  # not linked, so that users of an installed feedline do not need it
  target_include_directories(feedline_images SYSTEM PRIVATE
    $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
endif()
