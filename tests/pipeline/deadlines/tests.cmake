# Reads that hang, and the threads that wait for them.

target_sources(feedline_pipeline_tests PRIVATE
  pipeline/deadlines/deadline_test.cpp
  pipeline/deadlines/fifo_test.cpp
  pipeline/deadlines/left_behind_test.cpp
)

# A process that ends while a read of it hangs.
add_executable(feedline_exit_program pipeline/deadlines/exit_program.cpp)
target_include_directories(feedline_exit_program PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(feedline_exit_program PRIVATE feedline::core)
feedline_private_options(feedline_exit_program)
add_test(NAME "destruction: a read that returns while the process exits destroys nothing"
  COMMAND feedline_exit_program)
set_tests_properties("destruction: a read that returns while the process exits destroys nothing"
  PROPERTIES TIMEOUT ${feedline_test_timeout})
