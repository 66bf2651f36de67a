# Batches as other libraries' tensors, and their tensors as datasets.

feedline_add_tests(feedline_interop_tests SOURCES
  pipeline/interop/captured_use_test.cpp
  pipeline/interop/dlpack_test.cpp
  pipeline/interop/stream_use_test.cpp
  unit/interop/dlpack_abi_test.cpp
  unit/interop/dlpack_dataset_test.cpp
)
