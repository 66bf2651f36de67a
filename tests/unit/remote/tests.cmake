# Objects of other machines, served on the loopback device.
if(NOT FEEDLINE_HAS_REMOTE)
  feedline_skip_tests(feedline_remote_tests "libcurl and Expat")
  return()
endif()

add_library(feedline_test_http STATIC support/http/server.cpp)
target_link_libraries(feedline_test_http PUBLIC feedline_test_support)
feedline_make_support(feedline_test_http)

feedline_add_tests(feedline_remote_tests
  LIBRARIES feedline::formats feedline_test_http $<$<BOOL:${FEEDLINE_HAS_HDF5}>:feedline_test_hdf5>
  SOURCES
  pipeline/remote_test.cpp
  unit/remote/answer_test.cpp
  unit/remote/faults_test.cpp
  unit/remote/in_flight_limit_test.cpp
  unit/remote/object_file_test.cpp
)
target_compile_definitions(feedline_remote_tests PRIVATE
  $<$<BOOL:${FEEDLINE_HAS_HDF5}>:FEEDLINE_TEST_HDF5>
  $<$<TARGET_EXISTS:feedline_libraries::libzip>:FEEDLINE_TEST_NPZ>)
