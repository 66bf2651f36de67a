# cmake -D BUILD=… and what installed.cmake needs -P components_test.cmake
#
# The components `runtime`, `development` and `tools` are the whole, each file in one of them. A
# program is built with the first two; the programs run with the first and the last.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
file(GLOB_RECURSE whole RELATIVE ${prefix} ${prefix}/*)
list(REMOVE_ITEM whole share/doc/feedline/LICENSE)

set(parts "")
foreach(component runtime development tools)
  must_run("installing ${component}" ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG}
    --prefix ${WORK}/${component} --component ${component})
  file(GLOB_RECURSE ${component} RELATIVE ${WORK}/${component} ${WORK}/${component}/*)
  if(NOT share/doc/feedline/LICENSE IN_LIST ${component})
    message(FATAL_ERROR "${component} comes without the licence: ${${component}}")
  endif()
  list(REMOVE_ITEM ${component} share/doc/feedline/LICENSE)
  list(APPEND parts ${${component}})
endforeach()
list(SORT parts)
list(SORT whole)
if(NOT parts STREQUAL whole)
  message(FATAL_ERROR "the components are not the whole, each file once:\n${parts}\n${whole}")
endif()

# expect_only(COMPONENT REGEX): the component's files match it.
function(expect_only component regex)
  foreach(file IN LISTS ${component})
    if(NOT file MATCHES "${regex}")
      message(FATAL_ERROR "${file} is in the component ${component}")
    endif()
  endforeach()
endfunction()
expect_only(runtime "^lib[^/]*(/[^/]*)?/libfeedline_[a-z0-9]+\\.so\\.[0-9.]+$")
string(CONCAT development_files "^(include/feedline/|share/feedline/tsan.supp$"
  "|lib.*/(libfeedline_[a-z0-9]+\\.(so|a)|.*\\.(cmake|pc))$)")
expect_only(development "${development_files}")
expect_only(tools "^bin/feedline-")
foreach(component development tools)
  if(NOT ${component} AND (component STREQUAL "development" OR EXISTS ${prefix}/bin))
    message(FATAL_ERROR "the component ${component} is empty")
  endif()
endforeach()

file(REMOVE_RECURSE ${prefix})
foreach(component runtime development)
  file(COPY ${WORK}/${component}/ DESTINATION ${prefix})
endforeach()
must_run("configuring with runtime and development"
  ${configure} -S ${source}/core_alone -B ${WORK}/build)
must_run("building with runtime and development"
  ${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG})
must_run("running a program" ${WORK}/build/my_trainer)
must_contain("a program" "${output}" "sum 499500")

file(REMOVE_RECURSE ${prefix})
foreach(component runtime tools)
  file(COPY ${WORK}/${component}/ DESTINATION ${prefix})
endforeach()
foreach(program IN LISTS tools)
  must_run("running ${program} with runtime and tools" ${prefix}/${program} --help)
endforeach()
file(REMOVE_RECURSE ${WORK})
