# Objects of other machines, served on the loopback device.
if(NOT FEEDLINE_HAS_REMOTE)
  feedline_skip_tests(feedline_remote_tests "libcurl and pugixml")
  return()
endif()

add_library(feedline_test_http STATIC support/http/server.cpp)
target_link_libraries(feedline_test_http PUBLIC feedline_test_support)
feedline_make_support(feedline_test_http)

set(remote_zarr_test "")
if(FEEDLINE_HAS_JSON)
  set(remote_zarr_test unit/remote/zarr_test.cpp)
else()
  feedline_skip_tests("feedline_remote_tests: zarr" "nlohmann-json")
endif()
feedline_add_tests(feedline_remote_tests
  LIBRARIES feedline::formats feedline_test_http $<$<BOOL:${FEEDLINE_HAS_HDF5}>:feedline_test_hdf5>
  SOURCES
  pipeline/remote_faults_test.cpp
  pipeline/remote_test.cpp
  unit/remote/ahead_test.cpp
  unit/remote/answer_test.cpp
  unit/remote/begun_reads_test.cpp
  unit/remote/cache/cached_object_test.cpp
  unit/remote/cache/cached_epochs_test.cpp
  unit/remote/cache/downloads_test.cpp
  unit/remote/cache/folder_test.cpp
  unit/remote/cache/order_test.cpp
  unit/remote/cache/processes_test.cpp
  unit/remote/checksums_test.cpp
  unit/remote/connection_groups_test.cpp
  unit/remote/credentials_test.cpp
  unit/remote/direct_test.cpp
  unit/remote/faults_test.cpp
  unit/remote/first_batch_test.cpp
  unit/remote/hint_order_test.cpp
  unit/remote/in_flight_limit_test.cpp
  unit/remote/manifest_test.cpp
  unit/remote/kept_index_test.cpp
  unit/remote/object_file_test.cpp
  unit/remote/objects_ahead_test.cpp
  unit/remote/requests_test.cpp
  unit/remote/round_trips_test.cpp
  unit/remote/s3_test.cpp
  unit/remote/tar_test.cpp
  unit/remote/transfer_queue_test.cpp
  ${remote_zarr_test}
)
# In this program `operator new` fails when a test says so.
feedline_add_tests(feedline_remote_fault_tests
  LIBRARIES feedline::remote feedline_test_http ${CMAKE_DL_LIBS}
  SOURCES faults/remote_test.cpp faults/system_calls.cpp)
if(FEEDLINE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set_target_properties(feedline_remote_fault_tests PROPERTIES LINKER_LANGUAGE C)  # as faults/ does
endif()

target_compile_definitions(feedline_remote_tests PRIVATE
  $<$<BOOL:${FEEDLINE_HAS_HDF5}>:FEEDLINE_TEST_HDF5>
  $<$<BOOL:${FEEDLINE_HAS_JSON}>:FEEDLINE_TEST_JSON>
  $<$<TARGET_EXISTS:feedline_libraries::libzip>:FEEDLINE_TEST_NPZ>)

# S3 as moto plays it, with its check of signatures. The interpreter is the one of tests/python.sh,
# if it has moto, else the system's.
add_executable(feedline_moto_program unit/remote/moto_program.cpp)
target_link_libraries(feedline_moto_program PRIVATE feedline::formats)
feedline_private_options(feedline_moto_program)
set(FEEDLINE_MOTO_PYTHON "" CACHE FILEPATH "Python with moto[server], for the test of S3")
set(python "${FEEDLINE_MOTO_PYTHON}")
if(NOT python)
  set(python ${PROJECT_SOURCE_DIR}/build/python/bin/python)
  if(NOT EXISTS ${python})
    find_program(python3 python3 NO_CACHE)
    set(python ${python3})
  endif()
endif()
if(NOT FEEDLINE_SANITIZE)
  set(moto_test ${python} ${CMAKE_CURRENT_SOURCE_DIR}/unit/remote/moto_test.py
      $<TARGET_FILE:feedline_moto_program>)
  if(NOT python)
    set(moto_test ${CMAKE_COMMAND} -E echo "[feedline skip] python3 is not installed")
  endif()
  add_test(NAME "s3: objects of a store that checks signatures are read" COMMAND ${moto_test})
  set_tests_properties("s3: objects of a store that checks signatures are read" PROPERTIES
    TIMEOUT ${feedline_test_timeout} SKIP_REGULAR_EXPRESSION "\\[feedline skip\\]")
endif()
