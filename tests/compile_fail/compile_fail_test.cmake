# cmake -D CASE=file.cpp -D WORDS=file.txt -P compile_fail_test.cmake: among the compiler's words is
# the error that the case expects. See CMakeLists.txt beside this.

cmake_minimum_required(VERSION 3.25)

file(STRINGS ${CASE} expect REGEX "^// expect: ")
string(REGEX REPLACE "^// expect: " "" expect "${expect}")
if(NOT expect)
  message(FATAL_ERROR "${CASE} has no line '// expect: REGEX'")
endif()

cmake_path(GET CASE FILENAME name)
file(STRINGS ${WORDS} errors REGEX "/${name}:[0-9]+:[0-9]+: (fatal )?error: ")
if(NOT errors)
  message(FATAL_ERROR "the misuse compiles")
elseif(NOT errors MATCHES "${expect}")
  message(FATAL_ERROR
    "the misuse does not compile, but for another reason than '${expect}':\n${errors}")
endif()
