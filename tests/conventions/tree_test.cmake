# cmake -D SOURCE=… -P tree_test.cmake: what holds of the tree as text.

cmake_minimum_required(VERSION 3.25)
set(max_lines 400)
set(faults "")
set(string "\"([^\"\\\n]|\\\\.)*\"")
set(string_with_semicolon "\"([^\"\\;\n]|\\\\[^;])*;")

file(GLOB_RECURSE files RELATIVE ${SOURCE}
  ${SOURCE}/include/* ${SOURCE}/src/* ${SOURCE}/tests/* ${SOURCE}/samples/* ${SOURCE}/data/*)
list(FILTER files INCLUDE REGEX "\\.(hpp|cpp|cuh?|cmake|in|sh|txt)$")
list(LENGTH files count)
if(count LESS 50)
  message(FATAL_ERROR
    "only ${count} files found under ${SOURCE}: this test looks in the wrong place")
endif()

set(boost_headers "")
foreach(file IN LISTS files)
  file(READ ${SOURCE}/${file} text)
  string(REGEX MATCHALL "\n" newlines "${text}")
  list(LENGTH newlines lines)
  if(lines GREATER max_lines AND NOT file MATCHES "^tests/bench/results/")  # output, as it came
    list(APPEND faults "${file} has ${lines} lines: at ${max_lines} a file is split")
  endif()
  if(NOT file MATCHES "\\.(hpp|cpp|cuh?)$")
    continue()
  endif()

  if(text MATCHES "#include [<\"]boost/")
    list(APPEND boost_headers ${file})
  endif()
  if(text MATCHES "#include [<\"]((cuda|cublas|cudnn|cub/|thrust/|nvtx3|nvml)[^>\"]*)[>\"]")
    set(header "${CMAKE_MATCH_1}")
    if(NOT file MATCHES "\\.cuh?$" AND NOT file MATCHES "(^|/)cuda(/|_[a-z_]*\\.)" AND
       NOT file MATCHES "^tests/(gpu|bench)/")
      list(APPEND faults "${file} includes ${header}: only cuda/, cuda_*, .cu files and the GPU's \
tests and benchmarks may")
    endif()
  endif()
  if(text MATCHES "#include [<\"]((hdf5|H5)[A-Za-z0-9_]*\\.h)[>\"]")
    set(header "${CMAKE_MATCH_1}")
    if(NOT file MATCHES "hdf5")
      list(APPEND faults "${file} includes ${header}: only hdf5/ and files named for hdf5 may")
    endif()
  endif()
  if(file MATCHES "^(include|src)/" AND NOT file MATCHES "cuda"
      AND text MATCHES "#include [<\"]feedline/cuda/")
    list(APPEND faults "${file} includes the CUDA backend: the core cannot see it")
  endif()
  # Catch2's discovery splits such a name in two, and neither half is a test.
  if(file MATCHES "_test\\.cpp$" AND text MATCHES
      "TEST_CASE[A-Z_]*\\([^\"]*(${string}[ \n]*)*(${string_with_semicolon})")
    list(APPEND faults
      "${file} names a test case with a semicolon, by which ctest would never run it")
  endif()
  if(file MATCHES "^(include|src|tests|samples)/" AND
     text MATCHES "\nnamespace FEEDLINE_EXPORT feedline {\n[^in]")
    list(APPEND faults "${file}: after 'namespace FEEDLINE_EXPORT feedline {' comes "
      "'inline namespace FEEDLINE_ABI {'")
  endif()
  if(file MATCHES "^(include|src)/" AND text MATCHES "\nnamespace feedline {")
    list(APPEND faults "${file} opens namespace feedline without FEEDLINE_EXPORT \
(feedline/export.hpp): a shared library would not export it, by clang not what a source defines")
  endif()
  if(file MATCHES "\\.(hpp|cuh)$" AND NOT text MATCHES "#pragma once")
    list(APPEND faults "${file} has no #pragma once")
  endif()
endforeach()

list(LENGTH boost_headers boost_count)
if(NOT boost_count EQUAL 1 OR NOT boost_headers MATCHES "^src/detail/[a-z_]+\\.hpp$")
  list(APPEND faults
    "Boost is included by '${boost_headers}': it belongs in one header of src/detail")
endif()

file(GLOB decisions ${SOURCE}/docs/decisions/0*.md)
list(LENGTH decisions decision_count)
if(decision_count GREATER 30)
  list(APPEND faults "docs/decisions has ${decision_count} pages: merge those that answer one \
question, and move what was replaced to archive/")
endif()

# Results that pages cite stay. A result that a newer one replaces is in the history.
file(GLOB_RECURSE pages ${SOURCE}/README.md ${SOURCE}/docs/*.md)
list(FILTER pages EXCLUDE REGEX "/archive/")
set(cited "")
foreach(page IN LISTS pages)
  file(READ ${page} text)
  string(APPEND cited "${text}")
endforeach()
file(GLOB results RELATIVE ${SOURCE}/tests/bench/results ${SOURCE}/tests/bench/results/*)
list(LENGTH results result_count)
if(result_count GREATER 25)
  list(APPEND faults
    "tests/bench/results has ${result_count} files: delete those that newer ones replace")
endif()
foreach(result IN LISTS results)
  string(FIND "${cited}" "${result}" at)
  if(at EQUAL -1)
    list(APPEND faults "no document cites tests/bench/results/${result}: cite or delete it")
  endif()
endforeach()

if(faults)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "the house rules are broken:\n  ${text}")
endif()
message(STATUS "${count} files keep the house rules")
