# cmake -D READELF=… -D LIBRARIES=a,b,… -D VERSION=0.2.0 -P exports_test.cmake
#
# Shared libraries export feedline's API under the version of its interface, feedline's internals
# under the whole version, and nothing of Boost, spdlog, fmt, or any other.

cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" libraries "${LIBRARIES}")
string(REGEX REPLACE "\\.[0-9]+$" "" interface "${VERSION}")
string(REPLACE "." "_" space "v${interface}")  # the inline namespace
string(LENGTH ${space} length)
set(faults "")
set(all_exported "")
foreach(library IN LISTS libraries)
  execute_process(COMMAND ${READELF} --dyn-syms --wide ${library}
    OUTPUT_VARIABLE text ERROR_VARIABLE words RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "readelf ${library} failed: ${words}")
  endif()
  # Symbols in a section: neither undefined nor a version itself.
  string(REGEX MATCHALL " [0-9]+ [^ \n]+@[^ \n]+" symbols "${text}")
  list(TRANSFORM symbols REPLACE "^.* " "")
  list(LENGTH symbols count)
  message(STATUS "${library} exports ${count} symbols")
  foreach(symbol IN LISTS symbols)
    set(wanted feedline_${interface})
    set(within ${length}${space})
    if(symbol MATCHES "^_Z[A-Zhvn0-9_]*8feedline6detail")
      set(wanted feedline_internals_${VERSION})
      set(within 6detail)
    endif()
    if(NOT symbol MATCHES "^_Z[A-Zhvn0-9_]*8feedline${within}[^@]*@@?${wanted}$")
      list(APPEND faults "${library}: ${symbol}")
    endif()
    string(APPEND all_exported "${symbol}\n")
  endforeach()
endforeach()

foreach(wanted
    "6loaderC1E" "4openERK" "_ZTIN8feedline[^\n]*13dataset_errorE@" "9byte_file4readE")
  if(NOT all_exported MATCHES "${wanted}")
    list(APPEND faults "nobody exports ${wanted}")
  endif()
endforeach()
if(faults)
  list(LENGTH faults count)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "${count} faults:\n  ${text}")
endif()
