# cmake -D READELF=… -D LIBRARIES=a,b,… -D INTERFACE=0.1 -P names_test.cmake: shared libraries ask
# to be loaded by names that carry the version of their interface, and load each other by these.

cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" libraries "${LIBRARIES}")
string(REPLACE "." "\\." interface "${INTERFACE}")
set(needed 0)
foreach(library IN LISTS libraries)
  execute_process(COMMAND ${READELF} --dynamic --wide ${library}
    OUTPUT_VARIABLE text RESULT_VARIABLE code)
  string(REGEX MATCH "lib[a-z0-9_]+\\.so" name "${library}")
  if(NOT code EQUAL 0 OR NOT text MATCHES "\\(SONAME\\)[^\n]*\\[${name}\\.${interface}\\]")
    message(FATAL_ERROR "${library} has not the name ${name}.${INTERFACE}:\n${text}")
  endif()
  string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*libfeedline_[^\n]*" others "${text}")
  foreach(other IN LISTS others)
    math(EXPR needed "${needed} + 1")
    if(NOT other MATCHES "\\.so\\.${interface}\\]")
      message(FATAL_ERROR
        "${library} loads another by a name without version ${INTERFACE}: ${other}")
    endif()
  endforeach()
endforeach()
if(needed EQUAL 0)
  message(FATAL_ERROR "no library loads another: formats must load the core")
endif()
