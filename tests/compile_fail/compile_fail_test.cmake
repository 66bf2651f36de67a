# cmake -D CASE=file.cpp -D CXX=compiler -D INCLUDE=folder -P compile_fail_test.cmake: see
# CMakeLists.txt beside this.

cmake_minimum_required(VERSION 3.25)

file(STRINGS ${CASE} expect REGEX "^// expect: ")
string(REGEX REPLACE "^// expect: " "" expect "${expect}")
if(NOT expect)
  message(FATAL_ERROR "${CASE} has no line '// expect: REGEX'")
endif()

set(compile ${CXX} -std=c++20 -fsyntax-only -I ${INCLUDE})
execute_process(COMMAND ${compile} ${CASE} RESULT_VARIABLE code ERROR_VARIABLE words)
if(NOT code EQUAL 0)
  message(FATAL_ERROR
    "the proper use does not compile, so that the misuse proves nothing:\n${words}")
endif()

execute_process(COMMAND ${compile} -D MISUSE ${CASE} RESULT_VARIABLE code ERROR_VARIABLE words)
if(code EQUAL 0)
  message(FATAL_ERROR "the misuse compiles")
elseif(NOT words MATCHES "${expect}")
  message(FATAL_ERROR
    "the misuse does not compile, but for another reason than '${expect}':\n${words}")
endif()
