# The tests of HDF5. Included by tests/CMakeLists.txt, so that paths are relative to tests/.

# Files as the HDF5 library writes them.
add_library(feedline_test_hdf5 STATIC
  support/hdf5/chunk_check.cpp
  support/hdf5/indexed_file.cpp
  support/hdf5/sequence_records.cpp
  support/hdf5/sequences.cpp
  support/hdf5/stored_chunks.cpp
  support/hdf5/virtual_file.cpp
  support/hdf5/writer.cpp)
target_link_libraries(feedline_test_hdf5 PUBLIC
  feedline_test_support feedline::hdf5 ${feedline_hdf5_libraries} PRIVATE ZLIB::ZLIB)
feedline_make_support(feedline_test_hdf5)

# Output of HDF5's filters, made by the libraries that they use.
add_library(feedline_test_encoders STATIC
  support/hdf5/blosc2_encoders.cpp
  support/hdf5/encoders.cpp
  support/hdf5/filter_cases.cpp
  support/hdf5/pytables_encoders.cpp)
target_link_libraries(feedline_test_encoders PUBLIC
  feedline_test_support feedline_hdf5_filter PRIVATE ZLIB::ZLIB)
foreach(library IN LISTS FEEDLINE_HDF5_LIBRARIES)
  string(TOUPPER ${library} macro)
  target_compile_definitions(feedline_test_encoders PUBLIC FEEDLINE_HAS_${macro})
  target_link_libraries(feedline_test_encoders PUBLIC feedline_libraries::${library})
endforeach()
# The tests of docs/howto link their own version of it, too.
set_source_files_properties(support/hdf5/filter_cases.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
feedline_make_support(feedline_test_encoders)

# Parts of feedline that work without the HDF5 library, which these two programs do not link.
feedline_add_tests(feedline_hdf5_filter_tests LIBRARIES feedline_test_encoders SOURCES
  unit/hdf5/filter/filters_bad_input_test.cpp
  unit/hdf5/filter/filters_bad_library_test.cpp
  unit/hdf5/filter/filters_bad_stream_test.cpp
  unit/hdf5/filter/filters_test.cpp
  unit/hdf5/filter/filters_written_test.cpp
  unit/hdf5/filter/zfp_test.cpp
)
feedline_add_tests(feedline_hdf5_format_tests LIBRARIES feedline_hdf5_format SOURCES
  unit/hdf5/format/chunk_map_test.cpp
  unit/hdf5/format/metadata_test.cpp
)

feedline_add_tests(feedline_hdf5_tests
  LIBRARIES feedline_test_encoders feedline_test_hdf5 SOURCES
  support/hdf5/records.cpp
  unit/hdf5/arrays_test.cpp
  unit/hdf5/bad_input_test.cpp
  unit/hdf5/compound_bad_input_test.cpp
  unit/hdf5/compound_test.cpp
  unit/hdf5/conventions_test.cpp
  unit/hdf5/corpus_test.cpp
  unit/hdf5/dataset_test.cpp
  unit/hdf5/dimensions_test.cpp
  unit/hdf5/external_files_test.cpp
  unit/hdf5/filter/filters_file_test.cpp
  unit/hdf5/filter/scaleoffset_test.cpp
  unit/hdf5/large_listing_test.cpp
  unit/hdf5/library/compound_type_test.cpp
  unit/hdf5/library/storage_layout_test.cpp
  unit/hdf5/library/session_test.cpp
  unit/hdf5/library/type_test.cpp
  unit/hdf5/listing_test.cpp
  unit/hdf5/needed_files_test.cpp
  unit/hdf5/other_storage_test.cpp
  unit/hdf5/rows/decoded_on_device_test.cpp
  unit/hdf5/rows/encoded_damage_test.cpp
  unit/hdf5/rows/encoded_fields_test.cpp
  unit/hdf5/rows/encoded_rows_test.cpp
  unit/hdf5/rows/map_chunks_fault_test.cpp
  unit/hdf5/rows/map_chunks_file_test.cpp
  unit/hdf5/rows/map_chunks_test.cpp
  unit/hdf5/rows/read_counts_test.cpp
  unit/hdf5/rows/readers_test.cpp
  unit/hdf5/rows/groups_test.cpp
  unit/hdf5/rows/plain_rows_test.cpp
  unit/hdf5/rows/tiled_rows_test.cpp
  unit/hdf5/single_values_test.cpp
  unit/hdf5/library/time_test.cpp
  unit/hdf5/unreadable_test.cpp
  unit/hdf5/unwritten_test.cpp
  unit/hdf5/vlen/ragged_bad_input_test.cpp
  unit/hdf5/vlen/ragged_member_test.cpp
  unit/hdf5/vlen/ragged_test.cpp
  unit/hdf5/vlen/ragged_ways_test.cpp
)

# A program, for it is the program's end that matters.
add_executable(feedline_hdf5_exit_program unit/hdf5/exit_program.cpp)
target_link_libraries(feedline_hdf5_exit_program PRIVATE feedline_test_hdf5)
feedline_private_options(feedline_hdf5_exit_program)
add_test(NAME "hdf5: a program that was refused a file with a cache image ends well"
  COMMAND feedline_hdf5_exit_program)
set_tests_properties("hdf5: a program that was refused a file with a cache image ends well"
  PROPERTIES TIMEOUT ${feedline_test_timeout} SKIP_REGULAR_EXPRESSION "\\[feedline skip\\]"
  ENVIRONMENT "${feedline_lsan_options}")

# A filter that feedline does not undo, as a plugin for the HDF5 library.
add_library(feedline_hdf5_plugin MODULE unit/hdf5/plugin.cpp)
target_link_libraries(feedline_hdf5_plugin PRIVATE ${feedline_hdf5_libraries})
set_target_properties(feedline_hdf5_plugin PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/hdf5_plugins)
feedline_private_options(feedline_hdf5_plugin)
add_executable(feedline_hdf5_plugin_program unit/hdf5/plugin_program.cpp)
target_link_libraries(feedline_hdf5_plugin_program PRIVATE feedline_test_hdf5)
add_dependencies(feedline_hdf5_plugin_program feedline_hdf5_plugin)
feedline_private_options(feedline_hdf5_plugin_program)
set(name
  "hdf5: a filter that feedline does not undo is undone by its plugin, and a warning says so")
add_test(NAME "${name}"
  COMMAND feedline_hdf5_plugin_program ${CMAKE_CURRENT_BINARY_DIR}/hdf5_plugins)
set_tests_properties("${name}"
  PROPERTIES TIMEOUT ${feedline_test_timeout} ENVIRONMENT "${feedline_lsan_options}")
