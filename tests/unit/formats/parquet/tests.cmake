# Parquet files, which Arrow writes here. Without Arrow: what `open` says about them.

if(NOT FEEDLINE_HAS_PARQUET)
  feedline_add_tests(feedline_parquet_tests LIBRARIES feedline::formats SOURCES
    unit/formats/parquet/folder_test.cpp
    unit/formats/parquet/refused_test.cpp
  )
  feedline_skip_tests("feedline_parquet_tests: reading" "Arrow")
  return()
endif()

feedline_add_tests(feedline_parquet_tests LIBRARIES feedline::formats ${feedline_parquet_libraries}
  SOURCES
  unit/formats/parquet/bad_input_test.cpp
  unit/formats/parquet/column_cache_test.cpp
  unit/formats/parquet/dataset_test.cpp
  unit/formats/parquet/folder_test.cpp
  unit/formats/parquet/order_test.cpp
  unit/formats/parquet/row_places_test.cpp
  unit/formats/parquet/storage_test.cpp
)
target_compile_definitions(feedline_parquet_tests PRIVATE
  $<$<BOOL:${FEEDLINE_HAS_JSON}>:FEEDLINE_TEST_JSON>)
if(FEEDLINE_HAS_JPEG AND FEEDLINE_HAS_PNG)
  feedline_add_tests(feedline_parquet_image_tests
    LIBRARIES feedline::formats ${feedline_parquet_libraries} JPEG::JPEG PNG::PNG
    SOURCES
    support/images/image_bytes.cpp
    unit/formats/parquet/images_test.cpp
  )
else()
  feedline_skip_tests(feedline_parquet_image_tests "libjpeg and libpng")
endif()
