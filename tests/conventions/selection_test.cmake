# cmake -D PROGRAM=… -P selection_test.cmake: a test program that selects no test fails, and one
# that selects some passes.

cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${PROGRAM} "feedline_add_tests: no test case has this name"
  RESULT_VARIABLE code OUTPUT_VARIABLE words ERROR_VARIABLE words)
if(code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} selected nothing and passed; it said:\n${words}")
elseif(NOT words MATCHES "[Nn]o (test cases|tests) ")
  message(FATAL_ERROR "${PROGRAM} failed, but not for having selected nothing:\n${words}")
endif()

execute_process(COMMAND ${PROGRAM} "numbers: *"
  RESULT_VARIABLE code OUTPUT_VARIABLE words ERROR_VARIABLE words)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} failed with some of its tests:\n${words}")
endif()
