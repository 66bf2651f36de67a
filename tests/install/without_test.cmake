# cmake -D SOURCE=… -D WORK=… -D GENERATOR=… -D CXX=… -P without_test.cmake
#
# FEEDLINE_WITHOUT leaves libraries of images out though they are there, and ctest shows the tests
# that need them as skipped. A name that it does not know is refused.

cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})

# configure(WITHOUT ARGUMENT…): its words into `output`, its result into `code`.
macro(configure without)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${CXX} -D FEEDLINE_CUDA=OFF -D FEEDLINE_HDF5=OFF
      "-DFEEDLINE_WITHOUT=${without}" ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
endmacro()

foreach(name JPEG PNG libgif)  # names of find_package; one is unknown to feedline
  configure("zstd;${name}" -D FEEDLINE_TESTS=OFF)
  if(code EQUAL 0 OR NOT output MATCHES
      "FEEDLINE_WITHOUT names '${name}', and can name libjpeg libpng libwebp libtiff libzip ")
    message(FATAL_ERROR "FEEDLINE_WITHOUT=${name} was not refused by name, but:\n${output}")
  endif()
endforeach()

configure("libjpeg;libpng;libwebp;libtiff;libcurl" -D FEEDLINE_TESTS=ON)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "feedline is not configured without libraries of images:\n${output}")
elseif(NOT output MATCHES "Images are decoded with ..; not there: .libjpeg libpng libwebp libtiff.")
  message(FATAL_ERROR "libraries of images were not left out, or nobody was told:\n${output}")
elseif(NOT output MATCHES "Objects of other machines .http, https, s3.: OFF")
  message(FATAL_ERROR "libcurl was not left out, or nobody was told:\n${output}")
endif()
file(STRINGS ${WORK}/CMakeCache.txt found REGEX "^(JPEG|PNG|CURL)_")
if(found)
  message(FATAL_ERROR "libraries that were to be left out were looked for: ${found}")
endif()
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} -R "^feedline_image_tests$"
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT output MATCHES "[*]+Skipped")
  message(FATAL_ERROR "ctest does not show that tests of images are skipped:\n${output}")
endif()
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} -R "^feedline_remote_tests$"
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT output MATCHES "[*]+Skipped")
  message(FATAL_ERROR "ctest does not show that tests of remote objects are skipped:\n${output}")
endif()

# pugixml reads the lists of stores.
configure("libpugixml" -D FEEDLINE_TESTS=OFF)
if(NOT code EQUAL 0 OR NOT output MATCHES "Objects of other machines .http, https, s3.: OFF")
  message(FATAL_ERROR "remote objects were not left out without pugixml:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
