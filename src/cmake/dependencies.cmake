# Finds feedline's dependencies. Only src/ includes Boost and spdlog.

include(${CMAKE_CURRENT_LIST_DIR}/feedline-libraries.cmake)

set(FEEDLINE_WITHOUT "" CACHE STRING
  "Optional libraries to build without, though they are there: libjpeg libpng libcurl lz4 zstd …")
# A static blosc needs lz4 and zstd after it.
set(feedline_optional_filters libdeflate blosc lz4 zstd libaec bzip2 lzo zfp blosc2)
set(feedline_annotation_libraries nlohmann-json libpugixml)
set(feedline_optional_libraries libjpeg libpng libzip libcurl libexpat ${feedline_optional_filters}
  ${feedline_annotation_libraries})
foreach(library IN LISTS FEEDLINE_WITHOUT)
  if(NOT library IN_LIST feedline_optional_libraries)
    list(JOIN feedline_optional_libraries " " known_text)
    message(FATAL_ERROR "FEEDLINE_WITHOUT names '${library}', and can name ${known_text}; "
      "FEEDLINE_CUDA=OFF and FEEDLINE_HDF5=OFF leave out CUDA and HDF5")
  endif()
endforeach()

set(feedline_library_suffixes "${CMAKE_FIND_LIBRARY_SUFFIXES}")
if(FEEDLINE_STATIC_DEPENDENCIES)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(HDF5_USE_STATIC_LIBRARIES ON)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/requirements.cmake)

set(FEEDLINE_HAS_HDF5 OFF)
if(NOT FEEDLINE_HDF5 STREQUAL "OFF")
  find_package(HDF5 COMPONENTS C)
  set(feedline_hdf5_libraries HDF5::HDF5)
  if(HDF5_FOUND AND HDF5_IS_PARALLEL)  # its headers include MPI's
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI QUIET COMPONENTS CXX)
    list(APPEND feedline_hdf5_libraries MPI::MPI_CXX)
  endif()
  if(HDF5_FOUND AND HDF5_IS_PARALLEL AND NOT MPI_CXX_FOUND)
    string(CONCAT text "the HDF5 library that was found is a parallel one, and its MPI was not "
      "found: install that (libopenmpi-dev), or a serial HDF5 (libhdf5-dev)")
    if(FEEDLINE_HDF5 STREQUAL "ON")
      message(FATAL_ERROR "FEEDLINE_HDF5 is ON, but ${text}")
    endif()
    message(WARNING "HDF5 is left out: ${text}")
  elseif(HDF5_FOUND)
    set(FEEDLINE_HAS_HDF5 ON)
  elseif(FEEDLINE_HDF5 STREQUAL "ON")
    message(FATAL_ERROR "FEEDLINE_HDF5 is ON, but the HDF5 C library was not found: "
      "install libhdf5-dev or set HDF5_ROOT")
  endif()
endif()

# Libraries that decode images. Without its library, files of a format are refused when they are
# read.
set(feedline_image_libraries "")  # names of find_package
set(found "")
set(missing "")
foreach(library JPEG PNG)
  string(TOLOWER "lib${library}" name)
  set(FEEDLINE_HAS_${library} OFF)
  if(NOT name IN_LIST FEEDLINE_WITHOUT)
    find_package(${library})
    set(FEEDLINE_HAS_${library} ${${library}_FOUND})
  endif()
  if(FEEDLINE_HAS_${library})
    list(APPEND feedline_image_libraries ${library})
    list(APPEND found ${name})
  else()
    list(APPEND missing ${name})
  endif()
endforeach()
list(JOIN found " " found_text)
list(JOIN missing " " missing_text)
message(STATUS "Images are decoded with [${found_text}]; not there: [${missing_text}]")

# Libraries that read annotations of images: JSON (headers only) and XML. Without one, open_coco or
# open_voc refuses.
set(FEEDLINE_HAS_JSON OFF)
if(NOT nlohmann-json IN_LIST FEEDLINE_WITHOUT)
  find_package(nlohmann_json 3.9 QUIET)
  set(FEEDLINE_HAS_JSON ${nlohmann_json_FOUND})
endif()
set(FEEDLINE_HAS_PUGIXML OFF)
if(NOT libpugixml IN_LIST FEEDLINE_WITHOUT)
  find_package(pugixml 1.11 QUIET)
  set(FEEDLINE_HAS_PUGIXML ${pugixml_FOUND})
  if(FEEDLINE_STATIC_DEPENDENCIES AND TARGET pugixml::shared)
    set(FEEDLINE_HAS_PUGIXML OFF)
  endif()
endif()
if(FEEDLINE_HAS_PUGIXML)
  list(APPEND feedline_image_libraries pugixml)
endif()

# Libraries that decode HDF5's filters. Without its library, a filter is left to the HDF5 library
# and its plugins.
set(FEEDLINE_HDF5_LIBRARIES "")  # those that are installed
if(FEEDLINE_HAS_HDF5)
  set(missing "")
  foreach(library IN LISTS feedline_optional_filters)
    if(NOT library IN_LIST FEEDLINE_WITHOUT AND (FEEDLINE_GPL OR NOT library STREQUAL "lzo"))
      feedline_find_library(${library})
    endif()
    if(TARGET feedline_libraries::${library})
      list(APPEND FEEDLINE_HDF5_LIBRARIES ${library})
    else()
      list(APPEND missing ${library})
    endif()
  endforeach()
  list(JOIN FEEDLINE_HDF5_LIBRARIES " " found_text)
  list(JOIN missing " " missing_text)
  message(STATUS "HDF5 filters are decoded with zlib ${found_text}; not there: [${missing_text}]")
endif()

# The library that reads archives of NumPy arrays. Without it they are refused.
set(FEEDLINE_CORE_LIBRARIES "")
if(NOT libzip IN_LIST FEEDLINE_WITHOUT)
  feedline_find_library(libzip)
endif()
if(TARGET feedline_libraries::libzip)
  list(APPEND FEEDLINE_CORE_LIBRARIES libzip)
endif()

# Objects of other machines: requests, and the lists of stores. A static libcurl needs more than
# wheels can have.
set(FEEDLINE_HAS_CURL OFF)
set(FEEDLINE_HAS_EXPAT OFF)
if(NOT FEEDLINE_STATIC_DEPENDENCIES)
  foreach(library CURL EXPAT)
    string(TOLOWER "lib${library}" name)
    if(NOT name IN_LIST FEEDLINE_WITHOUT)
      find_package(${library} QUIET)
      if(library STREQUAL "CURL" AND CURL_FOUND AND CURL_VERSION_STRING VERSION_LESS 7.86)
        message(STATUS "libcurl ${CURL_VERSION_STRING} is older than 7.86, and left out")
        continue()
      endif()
      set(FEEDLINE_HAS_${library} ${${library}_FOUND})
    endif()
  endforeach()
endif()
set(FEEDLINE_HAS_REMOTE OFF)
if(FEEDLINE_HAS_CURL AND FEEDLINE_HAS_EXPAT)
  set(FEEDLINE_HAS_REMOTE ON)
endif()
message(STATUS "Objects of other machines (http, https, s3): ${FEEDLINE_HAS_REMOTE}")

set(CMAKE_FIND_LIBRARY_SUFFIXES "${feedline_library_suffixes}")

# All that was looked for and not found, with the packages of Debian and Ubuntu.
set(missing "")
if(NOT FEEDLINE_HAS_HDF5 AND NOT FEEDLINE_HDF5 STREQUAL "OFF")
  list(APPEND missing "HDF5 (libhdf5-dev)")
endif()
foreach(library IN LISTS feedline_optional_libraries)
  set(package "lib${library}-dev")
  string(REGEX REPLACE "^liblib" "lib" package "${package}")
  string(REPLACE "bzip2" "bz2" package "${package}")
  string(REPLACE "libnlohmann-json" "nlohmann-json3" package "${package}")
  string(REPLACE "libcurl-" "libcurl4-openssl-" package "${package}")
  string(REPLACE "expat-" "expat1-" package "${package}")
  string(REGEX REPLACE "^lib|^nlohmann-" "" has "${library}")
  string(TOUPPER "FEEDLINE_HAS_${has}" has)
  if(FEEDLINE_STATIC_DEPENDENCIES AND library MATCHES "^lib(curl|expat)$")
    continue()
  endif()
  if(NOT library IN_LIST FEEDLINE_WITHOUT AND NOT library STREQUAL "lzo"
      AND NOT TARGET feedline_libraries::${library} AND NOT ${has}
      AND (FEEDLINE_HAS_HDF5 OR NOT library IN_LIST feedline_optional_filters))
    list(APPEND missing "${library} (${package})")
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing_text)
  message(STATUS "Not found, and left out: ${missing_text}")
endif()
