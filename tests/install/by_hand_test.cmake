# cmake -D SOURCE=… -D WORK=… -D GENERATOR=… -D CXX=… -P by_hand_test.cmake
#
# README's build by hand configures where there is no package but those that README names there.

cmake_minimum_required(VERSION 3.25)
file(READ ${SOURCE}/README.md readme)
if(NOT readme MATCHES "\n    apt-get install ([^\n]+)\n    cmake --preset release ([^\n]+)\n")
  message(FATAL_ERROR "README.md has no build by hand")
endif()
separate_arguments(packages UNIX_COMMAND "${CMAKE_MATCH_1}")
separate_arguments(options UNIX_COMMAND "${CMAKE_MATCH_2}")

set(package_of_Boost libboost-dev)
set(package_of_ZLIB zlib1g-dev)
set(package_of_spdlog libspdlog-dev)
set(package_of_Threads g++)

set(hidden "")
file(GLOB_RECURSE files
  ${SOURCE}/src/CMakeLists.txt ${SOURCE}/src/*.cmake ${SOURCE}/samples/CMakeLists.txt
  ${SOURCE}/data/CMakeLists.txt ${SOURCE}/tests/CMakeLists.txt ${SOURCE}/tests/unit/*.cmake)
foreach(file IN LISTS files)
  file(STRINGS ${file} lines REGEX "find_package\\([A-Za-z]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*find_package\\(([A-Za-z0-9_]+).*" "\\1" name "${line}")
    if(NOT package_of_${name} OR NOT package_of_${name} IN_LIST packages)
      list(APPEND hidden ${name})
    endif()
  endforeach()
endforeach()
list(APPEND hidden JPEG PNG)  # found in a loop
list(REMOVE_DUPLICATES hidden)
list(TRANSFORM hidden REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=ON" OUTPUT_VARIABLE hide)
list(FIND hidden CLI11 at)
if(at EQUAL -1)
  message(FATAL_ERROR "the search for find_package found ${hidden}, and not CLI11")
endif()

file(STRINGS ${SOURCE}/src/cmake/feedline-libraries.cmake libraries
  REGEX "^set\\(feedline_library_")
list(TRANSFORM libraries REPLACE "^set\\(feedline_library_([a-z0-9]+) .*" "\\1")

file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${CXX} ${options} ${hide} -D FEEDLINE_CUDA=OFF
    "-DFEEDLINE_WITHOUT=${libraries}"
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "README's build by hand needs packages that it does not name:\n${output}")
elseif(NOT output MATCHES "HDF5 OFF, Parquet OFF, tests OFF" OR
       NOT output MATCHES "feedline-convert and feedline-doctor are left out")
  message(FATAL_ERROR "packages were found that must be hidden:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
