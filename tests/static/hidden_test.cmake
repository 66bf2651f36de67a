# cmake -D CXX=… -D NM=… -D READELF=… -D LIBRARIES=a,b,… -P hidden_test.cmake: static libraries hide
# no function that the standard library exports. Else a program that has both the libraries and the
# standard library in it (-static-libstdc++) cannot be linked beside a shared library that wants
# this function.

cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${CXX} -print-file-name=libstdc++.so.6
  OUTPUT_VARIABLE standard OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS "${standard}")
  message(STATUS "[feedline skip] there is no shared libstdc++")
  return()
endif()
execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${standard}
  OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[@ ][^\n]*" "" exported "${exported}")
set(exported "\n${exported}")
string(FIND "${exported}" "\n_ZNSs6appendEPKc\n" at)
if(at EQUAL -1)
  message(FATAL_ERROR "not read: what ${standard} exports")
endif()

string(REPLACE "," ";" libraries "${LIBRARIES}")
set(faults "")
foreach(library IN LISTS libraries)
  execute_process(COMMAND ${READELF} --syms --wide ${library}
    OUTPUT_VARIABLE text ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  if(NOT text MATCHES "HIDDEN +[0-9]+ _ZNK?8feedline")
    message(FATAL_ERROR "not read: what ${library} hides")
  endif()
  # Names of namespace std, whatever stands before it in a name.
  string(REGEX MATCHALL "HIDDEN +[0-9]+ _Z(T[VTSI]|GV)?N?[VKRO]*S[a-z][^\n ]*" hidden "${text}")
  list(TRANSFORM hidden REPLACE "^.* " "")
  list(REMOVE_DUPLICATES hidden)
  list(LENGTH hidden count)
  message(STATUS "${library} hides ${count} symbols of namespace std")
  foreach(symbol IN LISTS hidden)
    string(FIND "${exported}" "\n${symbol}\n" at)
    if(NOT at EQUAL -1)
      list(APPEND faults "${library}: ${symbol}")
    endif()
  endforeach()
endforeach()
if(faults)
  list(LENGTH faults count)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "${count} hidden functions of the standard library:\n  ${text}")
endif()
