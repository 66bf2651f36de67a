# Faults, tried at every place where they can be. In this program `operator new` and
# `pthread_create` are its own, and fail when a test says so.

feedline_add_tests(feedline_fault_tests LIBRARIES ${CMAKE_DL_LIBS} SOURCES
  faults/allocations_test.cpp
  faults/cores_test.cpp
  faults/device_calls_test.cpp
  faults/many_loaders_test.cpp
  faults/opening_test.cpp
  faults/results_test.cpp
  faults/signals_test.cpp
  faults/system_calls.cpp
  faults/thread_creation_test.cpp
  faults/user_exceptions_test.cpp
)
