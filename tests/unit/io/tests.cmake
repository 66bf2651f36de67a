# Files that others change meanwhile. The effect of a signal shows only in a process of its own.
add_executable(feedline_sigbus_guard_program unit/io/local/sigbus_guard_program.cpp)
target_include_directories(feedline_sigbus_guard_program PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(feedline_sigbus_guard_program PRIVATE feedline::core ${CMAKE_DL_LIBS})
feedline_private_options(feedline_sigbus_guard_program)
# Two more copies of the library, for that program to load.
foreach(number 1 2)
  set(copy feedline_sigbus_guard_copy_${number})
  add_library(${copy} MODULE unit/io/local/sigbus_guard_copy.cpp)
  target_include_directories(${copy} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${copy} PRIVATE feedline::core)
  feedline_private_options(${copy})
  add_dependencies(feedline_sigbus_guard_program ${copy})
  target_compile_definitions(feedline_sigbus_guard_program PRIVATE
    FEEDLINE_BUS_GUARD_COPY_${number}="$<TARGET_FILE:${copy}>")
endforeach()
feedline_add_tests(feedline_storage_tests SOURCES
  pipeline/changed_file_test.cpp
  pipeline/hint_test.cpp
  unit/dataset/file_dataset_test.cpp
  unit/dataset/regrouped_chunks_test.cpp
  unit/io/any_in_turn_test.cpp
  unit/io/byte_file_test.cpp
  unit/io/file_system_test.cpp
  unit/io/local/file_test.cpp
  unit/rows/file_rows_test.cpp
  unit/rows/hint_ranges_test.cpp
)
if(FEEDLINE_HAS_REMOTE)
  target_compile_definitions(feedline_storage_tests PRIVATE FEEDLINE_TEST_REMOTE)
endif()
if(NOT BUILD_SHARED_LIBS)  # copies of a program's library are then one
  target_sources(feedline_storage_tests PRIVATE unit/io/local/sigbus_guard_test.cpp)
endif()
add_dependencies(feedline_storage_tests feedline_sigbus_guard_program)
set_source_files_properties(unit/io/local/sigbus_guard_test.cpp PROPERTIES COMPILE_DEFINITIONS
  "FEEDLINE_BUS_GUARD_PROGRAM=\"$<TARGET_FILE:feedline_sigbus_guard_program>\"")

# The limit on open files is the process's, so each of these has processes of its own.
feedline_add_tests(feedline_kept_descriptor_tests SOURCES unit/io/local/kept_descriptor_test.cpp)
feedline_add_tests(feedline_many_files_tests SOURCES unit/io/many_files_test.cpp)
if(TARGET feedline_libraries::libzip)
  target_compile_definitions(feedline_many_files_tests PRIVATE FEEDLINE_TEST_NPZ)
endif()
add_executable(feedline_descriptor_limit_program unit/io/local/descriptor_limit_program.cpp)
target_include_directories(feedline_descriptor_limit_program PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(feedline_descriptor_limit_program PRIVATE feedline::core)
feedline_private_options(feedline_descriptor_limit_program)
foreach(when "opened again" "none left" "mapped")
  set(name "descriptor limit: is raised once, and only where it is needed: ${when}")
  add_test(NAME "${name}" COMMAND feedline_descriptor_limit_program ${when})
  set_tests_properties("${name}" PROPERTIES TIMEOUT ${feedline_test_timeout} ENVIRONMENT
    "${feedline_tsan_options};${feedline_lsan_options}")
endforeach()
