# cmake -D NM=… -D LIBRARIES=a,b,… -P exports_test.cmake: shared libraries export feedline's API,
# and nothing of feedline::detail, of Boost, spdlog, fmt, or any other.

cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" libraries "${LIBRARIES}")
set(faults "")
set(all_exported "")
foreach(library IN LISTS libraries)
  execute_process(COMMAND ${NM} --dynamic --defined-only --demangle ${library}
    OUTPUT_VARIABLE text ERROR_VARIABLE words RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "nm ${library} failed: ${words}")
  endif()
  string(REGEX REPLACE "[;\\[]" "_" text "${text}")
  string(REGEX MATCHALL "[^\n]+" symbols "${text}")
  list(LENGTH symbols count)
  message(STATUS "${library} exports ${count} symbols")
  foreach(symbol IN LISTS symbols)
    string(REGEX REPLACE "^[0-9a-f]+ . " "" name "${symbol}")
    string(REGEX REPLACE
      "^(vtable|VTT|typeinfo|typeinfo name|guard variable) for |^(non-virtual|virtual) thunk to "
      "" name "${name}")
    string(APPEND all_exported "${name}\n")
    # A template's name stands behind the type that it returns.
    if(name MATCHES "^feedline::detail::" OR NOT name MATCHES "(^| )feedline::")
      list(APPEND faults "${library}: ${name}")
    endif()
  endforeach()
endforeach()

foreach(wanted "feedline::loader::loader(" "feedline::open(" "feedline::dataset_error\n")
  string(FIND "${all_exported}" "${wanted}" at)
  if(at EQUAL -1)
    list(APPEND faults "nobody exports ${wanted}")
  endif()
endforeach()
if(faults)
  list(LENGTH faults count)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "${count} faults:\n  ${text}")
endif()
