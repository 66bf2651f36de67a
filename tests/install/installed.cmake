# Included by the tests of what is installed: installs the build, and moves what was installed to
# `prefix`. Needs BUILD, WORK, CONFIG, GENERATOR, CXX and CXX_FLAGS.

set(source ${CMAKE_CURRENT_LIST_DIR})
set(prefix ${WORK}/moved)

# must_run(WHAT COMMAND…): runs it, with its output in `output`; fails with that when it fails.
function(must_run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

function(must_contain what text)
  foreach(part IN LISTS ARGN)
    if(NOT text MATCHES "${part}")
      message(FATAL_ERROR "${what}: expected '${part}' in:\n${text}")
    endif()
  endforeach()
endfunction()

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${CONFIG}
  -D CMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON -D CMAKE_FIND_PACKAGE_PREFER_CONFIG=OFF)

file(REMOVE_RECURSE ${WORK})
must_run("cmake --install"
  ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed --config ${CONFIG})
file(RENAME ${WORK}/installed ${prefix})
