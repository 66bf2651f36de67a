# Code shared by tests, as a library. Included by tests/CMakeLists.txt: paths are relative to
# tests/.

# feedline_make_support(TARGET): what all libraries have that tests share. They are compiled once,
# and not for speed: they are not what is tested.
function(feedline_make_support target)
  target_compile_options(${target} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:-O1>")
  if(FEEDLINE_SANITIZE STREQUAL "address")  # same as for tests, below
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${feedline_as_one}")
  feedline_private_options(${target})
endfunction()

# The framework's main, once; at -O0, for it is slow to compile and does not matter.
add_library(feedline_test_support STATIC
  support/checks/catch_main.cpp
  support/checks/log_capture.cpp
  support/datasets/dataset_contract.cpp
  support/datasets/encoded_check.cpp
  support/datasets/encoded_dataset.cpp
  support/datasets/identity_dataset.cpp
  support/devices/destination_builder.cpp
  support/devices/device_contract.cpp
  support/devices/random_conversion.cpp
  support/devices/scripted_decoder.cpp
  support/devices/scripted_device.cpp
  support/devices/scripted_device_script.cpp
  support/devices/scripted_device_work.cpp
  support/devices/slow_transform.cpp
  support/files/idx_bytes.cpp
  support/files/npy_bytes.cpp
  support/files/standin_files.cpp
  support/files/tar_bytes.cpp
  support/files/temporary_directory.cpp
  support/files/test_data.cpp
  support/files/zip_bytes.cpp
  support/images/drawn_jpeg.cpp
  support/images/jpeg_writer.cpp
)
target_include_directories(feedline_test_support
  PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
# spdlog is public: tests include headers of src that use it, and a test compiled without its
# definitions has a header-only spdlog, with a registry of loggers of its own.
target_link_libraries(feedline_test_support
  PUBLIC Catch2::Catch2 feedline::core Boost::headers spdlog::spdlog PRIVATE ZLIB::ZLIB)
# An exception within a CHECK ends its test case. If the framework caught it there, compiling would
# take a tenth longer.
target_compile_definitions(feedline_test_support PUBLIC CATCH_CONFIG_FAST_COMPILE)
set_source_files_properties(support/checks/catch_main.cpp PROPERTIES COMPILE_OPTIONS "-O0")
# A program with a main of its own links none of the first four, which need the framework. The tests
# of docs/howto link their own version of the last.
set_source_files_properties(support/checks/catch_main.cpp support/datasets/dataset_contract.cpp
  support/datasets/encoded_check.cpp support/devices/device_contract.cpp
  support/devices/random_conversion.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(FEEDLINE_SANITIZE STREQUAL "address")
  set_source_files_properties(support/checks/catch_main.cpp PROPERTIES
    COMPILE_OPTIONS "-O0;-fno-sanitize=address,undefined")
endif()
set_source_files_properties(support/files/test_data.cpp PROPERTIES
  COMPILE_DEFINITIONS "FEEDLINE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
feedline_make_support(feedline_test_support)
