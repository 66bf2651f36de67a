# cmake -D CXX=compiler -D INCLUDE=folder -D HEADERS=a,b,… -D WORK=folder -P before_cpp20_test.cmake
#
# A program that includes a public header and is compiled as C++17 gets one #error, with feedline's
# message, and none about later lines.

cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" headers "${HEADERS}")
set(faults "")
foreach(header IN LISTS headers)
  set(program ${WORK}/before_cpp20.cpp)
  file(WRITE ${program} "#include <${header}>\nint main() { return feedline::no_such_name; }\n")
  execute_process(COMMAND ${CXX} -std=c++17 -fsyntax-only -I ${INCLUDE} ${program}
    RESULT_VARIABLE code ERROR_VARIABLE words)
  string(REGEX MATCHALL "error: [^\n]*" errors "${words}")
  list(POP_FRONT errors first)
  list(JOIN errors "\n" rest)  # the compiler stops there
  if(code EQUAL 0 OR NOT first MATCHES "feedline needs C\\+\\+20: compile with -std=c\\+\\+20" OR
     NOT rest MATCHES "^error: [^\n]*stop_before_cpp20[^\n]*$")
    string(APPEND faults "\n* ${header}:\n${words}")
  endif()
endforeach()
if(faults)
  message(FATAL_ERROR "not the one error that C++17 must get:${faults}")
endif()
