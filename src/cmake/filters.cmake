# Sources that need no HDF5 library: Zarr's codecs are undone by them, too. Tests link only these;
# feedline::hdf5, or without it feedline::formats, includes their objects.
add_library(feedline_hdf5_filter STATIC
  hdf5/filter/bitshuffle.cpp
  hdf5/filter/deflate.cpp
  hdf5/filter/filters.cpp
  hdf5/filter/fletcher32.cpp
  hdf5/filter/lzf.cpp
  hdf5/filter/planes.cpp
  hdf5/filter/scaleoffset.cpp
  hdf5/filter/shuffle.cpp
)
set(feedline_filter_libraries ZLIB::ZLIB)
set(feedline_filter_definitions "")
foreach(library IN LISTS FEEDLINE_HDF5_LIBRARIES)
  string(TOUPPER FEEDLINE_HAS_${library} macro)
  list(APPEND feedline_filter_definitions ${macro})
  list(APPEND feedline_filter_libraries feedline_libraries::${library})
  if(NOT library STREQUAL "libdeflate")  # a faster way of deflate.cpp's
    string(REPLACE "libaec" "szip" filter ${library})
    target_sources(feedline_hdf5_filter PRIVATE hdf5/filter/${filter}.cpp)
  endif()
endforeach()
target_compile_definitions(feedline_hdf5_filter PRIVATE ${feedline_filter_definitions})
target_include_directories(feedline_hdf5_filter PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(feedline_hdf5_filter PUBLIC feedline_core
  PRIVATE ${feedline_filter_libraries})
feedline_private_options(feedline_hdf5_filter)
