# Programs that draw loaders at random, and check all that comes.

# Runs as long as FEEDLINE_STRESS_SECONDS says, by default briefly.
add_executable(feedline_stress stress/stress.cpp)
target_link_libraries(feedline_stress
  PRIVATE feedline_test_support feedline_command_line spdlog::spdlog)
feedline_private_options(feedline_stress)
add_test(NAME "feedline_stress" COMMAND feedline_stress)
set_tests_properties("feedline_stress" PROPERTIES TIMEOUT 3600 RUN_SERIAL ON
  ENVIRONMENT "${feedline_tsan_options}")

# Random delays at every stage.
add_executable(feedline_stress_delays stress/delays.cpp)
target_link_libraries(feedline_stress_delays PRIVATE feedline_test_support feedline_command_line)
feedline_private_options(feedline_stress_delays)
add_test(NAME "feedline_stress_delays" COMMAND feedline_stress_delays)
set_tests_properties("feedline_stress_delays" PROPERTIES TIMEOUT ${feedline_test_timeout}
  RUN_SERIAL ON ENVIRONMENT "${feedline_tsan_options}")

# On a GPU, compared word by word by a kernel; and whether that finds a bit that is changed.
if(FEEDLINE_HAS_CUDA)
  add_executable(feedline_stress_cuda_words stress/cuda_words.cpp stress/words.cu)
  target_link_libraries(feedline_stress_cuda_words PRIVATE
    feedline_test_support feedline::cuda CUDA::cudart_static feedline_command_line)
  set_property(TARGET feedline_stress_cuda_words PROPERTY CUDA_RUNTIME_LIBRARY Static)
  feedline_private_options(feedline_stress_cuda_words)
  add_test(NAME "feedline_stress_cuda_words" COMMAND feedline_stress_cuda_words --batches 20000)
  add_test(NAME "feedline_stress_cuda_words: a changed bit is found"
    COMMAND feedline_stress_cuda_words --batches 20000 --flip 1000)
  set_tests_properties("feedline_stress_cuda_words"
    "feedline_stress_cuda_words: a changed bit is found" PROPERTIES
    TIMEOUT ${feedline_test_timeout} RUN_SERIAL ON
    SKIP_REGULAR_EXPRESSION "\\[feedline skip\\]")
  set_tests_properties("feedline_stress_cuda_words: a changed bit is found" PROPERTIES
    PASS_REGULAR_EXPRESSION "[1-9][0-9]* words differ, [1-9][0-9]* were changed")
endif()
