# cmake -D CASES=file.cpp -D CXX=compiler -D NO_LIMIT=option -D INCLUDE=folder -D WORDS=file.txt
#   -P compile_cases.cmake
#
# The compiler's messages for the misuses go to WORDS. NO_LIMIT makes it report all errors, not only
# the first 20. See CMakeLists.txt beside this.

cmake_minimum_required(VERSION 3.25)

set(compile ${CXX} ${NO_LIMIT} -std=c++20 -fsyntax-only -I ${INCLUDE})
execute_process(COMMAND ${compile} ${CASES} RESULT_VARIABLE code ERROR_VARIABLE words)
if(NOT code EQUAL 0)
  message(FATAL_ERROR
    "the proper uses do not compile, so that the misuses prove nothing:\n${words}")
endif()

execute_process(COMMAND ${compile} -D MISUSE ${CASES} RESULT_VARIABLE code ERROR_FILE ${WORDS})
if(code EQUAL 0)
  message(FATAL_ERROR "the misuses compile")
endif()
