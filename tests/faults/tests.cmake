# Faults, tried at every call that can fail. In this program `operator new` and `pthread_create` are
# its own, and fail when a test says so.

feedline_add_tests(feedline_fault_tests LIBRARIES ${CMAKE_DL_LIBS} SOURCES
  faults/allocations_test.cpp
  faults/cores_test.cpp
  faults/device_calls_test.cpp
  faults/many_loaders_test.cpp
  faults/opening_test.cpp
  faults/records_test.cpp
  faults/results_test.cpp
  faults/signals_test.cpp
  faults/system_calls.cpp
  faults/thread_creation_test.cpp
  faults/user_exceptions_test.cpp
)
if(FEEDLINE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang++ would link an `operator new` of ThreadSanitizer's as well; CMake adds libstdc++.
  set_target_properties(feedline_fault_tests PROPERTIES LINKER_LANGUAGE C)
endif()

# Two more copies of the library in a process, which come and go.
add_executable(feedline_copies_program faults/copies_program.cpp)
target_include_directories(feedline_copies_program PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(feedline_copies_program PRIVATE feedline::core ${CMAKE_DL_LIBS})
feedline_private_options(feedline_copies_program)
foreach(number 1 2)
  set(copy feedline_library_copy_${number})
  add_library(${copy} MODULE faults/library_copy.cpp)
  target_include_directories(${copy} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${copy} PRIVATE feedline::core)
  feedline_private_options(${copy})
  set_target_properties(${copy} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # With a symbol that is unique in the process the system would never unload it.
  target_compile_options(${copy} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(${copy} PRIVATE -Wl,--exclude-libs,ALL)
  add_dependencies(feedline_copies_program ${copy})
  target_compile_definitions(feedline_copies_program PRIVATE
    FEEDLINE_LIBRARY_COPY_${number}="$<TARGET_FILE:${copy}>")
endforeach()
set(feedline_copy_scenarios "come and go" "logs first" "abandoned threads")
if(FEEDLINE_SANITIZE STREQUAL "thread")
  # Its suppressions name functions, and a library that was closed has no names any more.
  list(REMOVE_ITEM feedline_copy_scenarios "come and go" "logs first")
endif()
foreach(scenario IN LISTS feedline_copy_scenarios)
  add_test(NAME "faults: copies of the library in one process, ${scenario}"
    COMMAND feedline_copies_program ${scenario})
  set_tests_properties("faults: copies of the library in one process, ${scenario}"
    PROPERTIES TIMEOUT ${feedline_test_timeout} ENVIRONMENT
      "${feedline_tsan_options};${feedline_lsan_options}")
endforeach()
if(FEEDLINE_SANITIZE STREQUAL "address")
  # A copy that is closed leaves two objects of process length allocated (`detail/thread_group.cpp`,
  # `device/deferred_free.cpp`), some 200 bytes. What held them is unmapped, so they count as leaks.
  set_property(TEST "faults: copies of the library in one process, come and go"
                    "faults: copies of the library in one process, logs first"
    APPEND PROPERTY ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endif()
