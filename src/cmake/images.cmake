# feedline::images: files of images.

add_library(feedline_images
  image/damage_count.cpp
  image/decode.cpp
  image/device_files.cpp
  image/image_geometry.cpp
  image/image_options.cpp
  image/mask.cpp
  image/orientation.cpp
  image/place_pixels.cpp
  image/random_crop.cpp
  image/resize/pixel_image.cpp
  image/resize/resampler.cpp
  image/stored_extents.cpp
)
add_library(feedline::images ALIAS feedline_images)
set_target_properties(feedline_images PROPERTIES EXPORT_NAME images)
target_include_directories(feedline_images PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(feedline_images PUBLIC feedline_core PRIVATE spdlog::spdlog)
include(cmake/image-readers.cmake)
include(cmake/image-sets.cmake)
feedline_private_options(feedline_images)
list(APPEND feedline_targets feedline_images)
