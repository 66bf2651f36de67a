# Images: folders and shards of them, JPEG and PNG, and decoding and resizing as GPUs do it.

feedline_add_tests(feedline_images_left_out_tests SOURCES
  ${PROJECT_SOURCE_DIR}/src/image/all_readers.cpp
  ${PROJECT_SOURCE_DIR}/src/image/bmp_reader.cpp
  ${PROJECT_SOURCE_DIR}/src/image/damage_count.cpp
  ${PROJECT_SOURCE_DIR}/src/image/decode.cpp
  ${PROJECT_SOURCE_DIR}/src/image/image_geometry.cpp
  ${PROJECT_SOURCE_DIR}/src/image/image_options.cpp
  ${PROJECT_SOURCE_DIR}/src/image/device_files.cpp
  ${PROJECT_SOURCE_DIR}/src/image/orientation.cpp
  ${PROJECT_SOURCE_DIR}/src/image/resize/pixel_image.cpp
  ${PROJECT_SOURCE_DIR}/src/image/place_pixels.cpp
  ${PROJECT_SOURCE_DIR}/src/image/pnm_reader.cpp
  ${PROJECT_SOURCE_DIR}/src/image/random_crop.cpp
  ${PROJECT_SOURCE_DIR}/src/image/resize/resampler.cpp
  ${PROJECT_SOURCE_DIR}/src/image/sets/coco.cpp
  ${PROJECT_SOURCE_DIR}/src/image/sets/voc.cpp
  unit/image/left_out_test.cpp
)
if(NOT FEEDLINE_HAS_JPEG OR NOT FEEDLINE_HAS_PNG)
  feedline_skip_tests(feedline_image_tests "libjpeg and libpng")
  return()
endif()

feedline_add_tests(feedline_image_tests
  LIBRARIES feedline::formats JPEG::JPEG PNG::PNG ZLIB::ZLIB
  SOURCES
  support/images/drawn_png.cpp
  support/images/image_bytes.cpp
  unit/image/sets/annotations_test.cpp
  unit/image/sets/followed_moves_test.cpp
  unit/image/image_blocks_test.cpp
  unit/image/sets/image_folder_test.cpp
  unit/image/sets/image_lists_test.cpp
  unit/image/sets/image_roots_test.cpp
  unit/image/sets/joined_images_test.cpp
  unit/codecs/jpeg/coefficients_test.cpp
  unit/codecs/jpeg/frame_test.cpp
  unit/codecs/jpeg/needed_blocks_test.cpp
  unit/codecs/jpeg/pixels_test.cpp
  unit/codecs/jpeg/scan_segments_test.cpp
  unit/codecs/jpeg/scan_test.cpp
  unit/codecs/png/parts_test.cpp
  unit/image/jpeg_test.cpp
  unit/image/mask_test.cpp
  unit/image/orientation_test.cpp
  unit/image/other_formats_test.cpp
  unit/image/packed_taps_test.cpp
  unit/image/pixel_format_test.cpp
  unit/image/png_test.cpp
  unit/image/random_crop_test.cpp
  unit/image/record_blocks_test.cpp
  unit/image/resample_taps_test.cpp
  unit/image/resampler_test.cpp
  unit/image/resized_crop_test.cpp
  unit/image/shard_blocks_test.cpp
  unit/image/stray_bytes_test.cpp
  unit/image/value_blocks_test.cpp
)
feedline_add_tests(feedline_batch_size_tests
  LIBRARIES feedline::images JPEG::JPEG PNG::PNG
  SOURCES
  support/images/image_bytes.cpp
  unit/image/sets/drawn_sizes_test.cpp
  unit/image/sets/padded_batches_test.cpp
  unit/image/sets/sized_blocks_test.cpp
)
foreach(format TIFF WEBP)
  target_compile_definitions(feedline_image_tests PRIVATE
    $<$<BOOL:${FEEDLINE_HAS_${format}}>:FEEDLINE_HAS_${format}>)
endforeach()
foreach(library IN LISTS FEEDLINE_IMAGE_LIBRARIES)
  target_link_libraries(feedline_image_tests PRIVATE feedline_libraries::${library})
endforeach()
if(FEEDLINE_HAS_JSON)
  target_sources(feedline_image_tests PRIVATE unit/image/sets/coco_test.cpp)
endif()
if(FEEDLINE_HAS_PUGIXML)
  target_sources(feedline_image_tests PRIVATE unit/image/sets/voc_test.cpp)
endif()
if(FEEDLINE_HAS_HDF5)
  target_sources(feedline_image_tests PRIVATE unit/image/hdf5_blocks_test.cpp)
  target_link_libraries(feedline_image_tests PRIVATE feedline_test_hdf5)
endif()
