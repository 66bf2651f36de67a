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
# A static libtiff needs what it decodes with after it. CMake orders targets by what they need.
if(FEEDLINE_STATIC_DEPENDENCIES AND FEEDLINE_HAS_TIFF)
  add_library(feedline_static_tiff UNKNOWN IMPORTED GLOBAL)
  set_target_properties(feedline_static_tiff PROPERTIES
    IMPORTED_LOCATION "${FEEDLINE_libtiff_tiff_LIBRARY}")
  foreach(library IN ITEMS feedline_libraries::libdeflate feedline_libraries::zstd JPEG::JPEG
      ZLIB::ZLIB)
    if(TARGET ${library})
      set_property(TARGET feedline_static_tiff
        APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${library})
    endif()
  endforeach()
  set_target_properties(feedline_libraries::libtiff PROPERTIES
    INTERFACE_LINK_LIBRARIES feedline_static_tiff)
endif()
