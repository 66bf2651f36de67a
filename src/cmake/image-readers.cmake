# The readers of formats of images in feedline::images, and their libraries.

target_sources(feedline_images PRIVATE
  image/all_readers.cpp image/bmp_reader.cpp image/pnm_reader.cpp)
foreach(format JPEG PNG TIFF WEBP)
  if(FEEDLINE_HAS_${format})
    string(TOLOWER ${format} name)
    target_sources(feedline_images PRIVATE image/${name}_reader.cpp)
    target_compile_definitions(feedline_images PRIVATE FEEDLINE_HAS_${format})
  endif()
endforeach()
foreach(library IN LISTS feedline_image_libraries)
  target_link_libraries(feedline_images PRIVATE ${library}::${library})
endforeach()
foreach(library IN LISTS FEEDLINE_IMAGE_LIBRARIES)
  target_link_libraries(feedline_images PRIVATE feedline_libraries::${library})
endforeach()
# A static libtiff needs what it decodes with after it.
if(FEEDLINE_STATIC_DEPENDENCIES AND FEEDLINE_HAS_TIFF)
  foreach(library IN ITEMS feedline_libraries::libdeflate feedline_libraries::zstd JPEG::JPEG
      ZLIB::ZLIB)
    if(TARGET ${library})
      target_link_libraries(feedline_images PRIVATE ${library})
    endif()
  endforeach()
endif()
