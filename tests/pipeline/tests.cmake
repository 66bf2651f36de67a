# A whole pipeline, on the host device and on one that does what a test says.

feedline_add_tests(feedline_pipeline_tests SOURCES
  pipeline/batch_function_test.cpp
  pipeline/batches/capture_test.cpp
  pipeline/batches/first_test.cpp
  pipeline/batches/held_test.cpp
  pipeline/batches/kept_limit_test.cpp
  pipeline/batches/kept_test.cpp
  pipeline/batches/moved_test.cpp
  pipeline/batches/stream_end_test.cpp
  pipeline/context_test.cpp
  pipeline/cpu_budget_test.cpp
  pipeline/decoding/ahead_test.cpp
  pipeline/decoding/blame_test.cpp
  pipeline/decoding/decoding_test.cpp
  pipeline/decoding/edge_test.cpp
  pipeline/decoding/group_test.cpp
  pipeline/decoding/priority_test.cpp
  pipeline/decoding/rank_test.cpp
  pipeline/decoding/sample_block_test.cpp
  pipeline/device_contract_test.cpp
  pipeline/edge_test.cpp
  pipeline/epoch_test.cpp
  pipeline/errors/abandoned_failure_test.cpp
  pipeline/errors/cap_test.cpp
  pipeline/errors/error_test.cpp
  pipeline/errors/going_on_test.cpp
  pipeline/errors/model_test.cpp
  pipeline/errors/refused_call_test.cpp
  pipeline/host_fields_test.cpp
  pipeline/errors/resume_test.cpp
  pipeline/errors/retry_test.cpp
  pipeline/errors/skip_test.cpp
  pipeline/errors/substitute_test.cpp
  pipeline/fork_test.cpp
  pipeline/nested_test.cpp
  pipeline/order_test.cpp
  pipeline/piece_test.cpp
  pipeline/placement/memory_test.cpp
  pipeline/placement/near_device_test.cpp
  pipeline/placement/placement_test.cpp
  pipeline/placement/without_assembly_test.cpp
  pipeline/resuming/digest_test.cpp
  pipeline/resuming/killed_test.cpp
  pipeline/resuming/resume_test.cpp
  pipeline/resuming/state_test.cpp
  pipeline/ring_test.cpp
  pipeline/samplers_test.cpp
  pipeline/shard_test.cpp
  pipeline/stop_test.cpp
  pipeline/threads_test.cpp
  pipeline/transform_test.cpp
  pipeline/tuning_test.cpp
  pipeline/turn_test.cpp
)

feedline_add_tests(feedline_mixing_tests SOURCES
  pipeline/mixing/mixing_test.cpp
  pipeline/mixing/unreadable_test.cpp
  unit/device/mix_on_host_test.cpp
  unit/device/sample_mix_test.cpp
  unit/transform/mixing_test.cpp
)
# These compute what devices draw, in arithmetic of which no product may be fused with a sum.
set_source_files_properties(pipeline/mixing/mixing_test.cpp pipeline/mixing/unreadable_test.cpp
  unit/device/mix_on_host_test.cpp unit/device/sample_mix_test.cpp PROPERTIES
  COMPILE_OPTIONS "-ffp-contract=off")

feedline_add_tests(feedline_packing_tests SOURCES
  pipeline/packing/rows_test.cpp
  pipeline/packing/values_test.cpp
)

feedline_add_tests(feedline_queue_tests SOURCES
  pipeline/queue/queue_test.cpp
  pipeline/queue/refusals_test.cpp
)

feedline_add_tests(feedline_results_tests SOURCES
  pipeline/results/edge_test.cpp
  pipeline/results/end_test.cpp
  pipeline/results/order_test.cpp
  unit/results/slots_test.cpp
  unit/results/source_lease_test.cpp
)

# A program that is killed must be a process of its own.
add_executable(feedline_resume_program pipeline/resuming/resume_program.cpp)
target_link_libraries(feedline_resume_program PRIVATE feedline_test_support)
feedline_private_options(feedline_resume_program)
add_dependencies(feedline_pipeline_tests feedline_resume_program)
set_source_files_properties(pipeline/resuming/killed_test.cpp PROPERTIES COMPILE_DEFINITIONS
  "FEEDLINE_RESUME_PROGRAM=\"$<TARGET_FILE:feedline_resume_program>\"")

include(pipeline/interop/tests.cmake)
include(pipeline/deadlines/tests.cmake)
