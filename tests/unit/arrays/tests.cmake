# Arrays of N dimensions, and windows of them. Included by tests/CMakeLists.txt.

feedline_add_tests(feedline_arrays_tests SOURCES
  pipeline/decoding/sparse_test.cpp
  pipeline/decoding/window_test.cpp
  pipeline/windows_test.cpp
  unit/arrays/csr_test.cpp
  unit/arrays/cut_windows_test.cpp
  unit/arrays/regions_test.cpp
  unit/arrays/stacked_test.cpp
  unit/arrays/standardize_test.cpp
  unit/arrays/unpack_test.cpp
  unit/arrays/window_box_test.cpp
  unit/arrays/windows_test.cpp
  unit/decoding/window_planner_test.cpp
)
