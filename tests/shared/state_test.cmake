# cmake -D OBJDUMP=… -D LIBRARIES=a,b,… -P state_test.cmake: no variable of feedline's stands in two
# shared libraries. Each would have a value of its own: what one library sets, the other ignores.

cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" libraries "${LIBRARIES}")
set(names "")
set(faults "")
foreach(library IN LISTS libraries)
  execute_process(COMMAND ${OBJDUMP} --syms --demangle ${library}
    OUTPUT_VARIABLE text ERROR_VARIABLE words RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "objdump ${library} failed: ${words}")
  endif()
  cmake_path(GET library FILENAME file)
  # Variables that may be written to; constants are in other sections. spdlog has its registry of
  # loggers.
  string(REGEX REPLACE "[][;]" "_" text "${text}")
  string(REGEX MATCHALL "[^\n]* \\.(bss|data|tbss|tdata)\t[^\n]*(feedline|spdlog)::[^\n]*" symbols
    "${text}")
  list(TRANSFORM symbols REPLACE "^.*\t[0-9a-f]+ +(0x[0-9a-f]+ +|\\.hidden +)*" "")
  list(REMOVE_DUPLICATES symbols)
  foreach(name IN LISTS symbols)
    string(MAKE_C_IDENTIFIER "${name}" key)
    if(DEFINED library_of_${key})
      list(APPEND faults "${name}: ${library_of_${key}} and ${file}")
    else()
      set(library_of_${key} ${file})
      list(APPEND names "${name} in ${file}")
    endif()
  endforeach()
endforeach()

# It can be seen at all.
foreach(wanted "::is_allowed in libfeedline_core" "::tally in libfeedline_core")
  if(NOT "${names}" MATCHES "${wanted}")
    list(APPEND faults "there is no variable ...${wanted}")
  endif()
endforeach()
if(HDF5 AND NOT "${names}" MATCHES "::library_mutex in libfeedline_hdf5")
  list(APPEND faults "there is no variable ...::library_mutex in libfeedline_hdf5")
endif()
if(faults)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "state of the process stands in two libraries:\n  ${text}")
endif()
list(LENGTH names count)
list(JOIN names "\n  " text)
message(STATUS "${count} variables, each in one library:\n  ${text}")
