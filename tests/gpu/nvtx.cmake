# The ranges that arrive at a profiler, and that there are none without one: NVTX needs no GPU.

add_library(feedline_nvtx_log MODULE gpu/nvtx_log.cpp)
add_executable(feedline_nvtx_program gpu/nvtx_program.cpp)
foreach(target feedline_nvtx_log feedline_nvtx_program)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)  # for its headers
  feedline_private_options(${target})
endforeach()
add_test(NAME "ranges for profilers: a tool that NVTX loads hears of them, in a domain of feedline"
  COMMAND feedline_nvtx_program)
set_tests_properties(
  "ranges for profilers: a tool that NVTX loads hears of them, in a domain of feedline" PROPERTIES
  ENVIRONMENT "NVTX_INJECTION64_PATH=$<TARGET_FILE:feedline_nvtx_log>"
  PASS_REGULAR_EXPRESSION "^domain feedline\nbegin read\nbegin stalled\nend\nend\ndone\n$")
add_test(NAME "ranges for profilers: without a tool nothing happens" COMMAND feedline_nvtx_program)
set_tests_properties("ranges for profilers: without a tool nothing happens" PROPERTIES
  PASS_REGULAR_EXPRESSION "^done\n$")
