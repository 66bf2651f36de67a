# Traces: what is recorded, and the files that are written of it.

find_package(nlohmann_json 3.9 REQUIRED)
feedline_add_tests(feedline_trace_tests
  LIBRARIES nlohmann_json::nlohmann_json
  SOURCES
  pipeline/trace_test.cpp
  unit/device/stream_lane_test.cpp
  unit/statistics/trace_files_test.cpp
  unit/statistics/trace_recorder_test.cpp
  unit/statistics/trace_writers_test.cpp
)

add_executable(feedline_trace_page_program unit/statistics/trace_page_program.cpp)
target_include_directories(feedline_trace_page_program PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(feedline_trace_page_program PRIVATE feedline::core)
feedline_private_options(feedline_trace_page_program)
if(NOT FEEDLINE_SANITIZE)
  feedline_add_script_test("trace page: a browser shows the lanes, and zooms and moves them"
    unit/statistics/trace_page_test.sh $<TARGET_FILE:feedline_trace_page_program>
    ${CMAKE_CURRENT_BINARY_DIR}/trace_page)
  set_tests_properties("trace page: a browser shows the lanes, and zooms and moves them" PROPERTIES
    SKIP_REGULAR_EXPRESSION "\\[feedline skip\\]")
endif()
