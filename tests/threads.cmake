# ThreadSanitizer's build has the tests that start threads: those of pipeline/ and faults/, and of
# unit/ those that include one of these headers, or a header of tests/ that does.
set(feedline_thread_headers
  thread future detail/threads.hpp loader/pipeline/pipeline.hpp feedline/feedline.hpp
  feedline/loader/loader.hpp support/datasets/dataset_contract.hpp)
# Starts a thread, and waits for its end before it continues.
set(feedline_no_thread_headers support/checks/sampler_contract.hpp)

# feedline_starts_threads(RESULT FILE): whether FILE, relative to tests/, includes such a header.
function(feedline_starts_threads result file)
  get_property(known GLOBAL PROPERTY "feedline_starts_threads_${file}")
  if("${known}" STREQUAL "")
    set(known OFF)
    file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/${file} lines REGEX "^#include [<\"]")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include [<\"]([^>\"]+).*" "\\1" header "${line}")
      if(header IN_LIST feedline_thread_headers)
        set(known ON)
      elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header}
             AND NOT header IN_LIST feedline_no_thread_headers)
        feedline_starts_threads(known ${header})
      endif()
      if(known)
        break()
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY "feedline_starts_threads_${file}" ${known})
  endif()
  set(${result} ${known} PARENT_SCOPE)
endfunction()

# feedline_keep_thread_tests(RESULT SOURCES…): those of SOURCES that ThreadSanitizer's build has.
function(feedline_keep_thread_tests result)
  set(kept "")
  foreach(source IN LISTS ARGN)
    set(starts_threads ON)
    if(source MATCHES "^unit/.*_test\\.cpp$")
      feedline_starts_threads(starts_threads ${source})
    endif()
    if(starts_threads)
      list(APPEND kept ${source})
    endif()
  endforeach()
  set(${result} ${kept} PARENT_SCOPE)
endfunction()
