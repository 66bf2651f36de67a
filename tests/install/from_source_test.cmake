# cmake -D SOURCE=… -D WORK=… -D GENERATOR=… -D CXX=… [-D BUILD=ON] -P from_source_test.cmake
#
# Outside projects take feedline's source into their own build, by add_subdirectory and by
# FetchContent from a repository, static and shared: they get the targets that find_package gives,
# and neither tests, programs, samples nor install rules. BUILD=ON: they are also built and run,
# which takes minutes.

cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})

# must_run(WHAT COMMAND…): runs it, with its output in `output`; fails with that when it fails.
function(must_run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

# The repository to fetch from: a commit of this tree as it is, changes included.
set(repository ${WORK}/repository)
find_program(git git REQUIRED)
set(here ${git} -C ${SOURCE})
file(MAKE_DIRECTORY ${repository})
if(EXISTS ${SOURCE}/.git)
  execute_process(
    COMMAND ${here} ls-files -z --cached --others --exclude-standard
    COMMAND tar --directory ${SOURCE} --create --null --files-from=- --ignore-failed-read
    COMMAND tar --directory ${repository} --extract
    RESULTS_VARIABLE codes ERROR_QUIET)
else()
  foreach(entry CMakeLists.txt CMakePresets.json LICENSE README.md include src)
    file(COPY ${SOURCE}/${entry} DESTINATION ${repository})
  endforeach()
endif()
set(there ${git} -C ${repository} -c user.name=test -c user.email=test@feedline.example)
must_run("git init" ${there} init --quiet)
must_run("git add" ${there} add --all)
must_run("git commit" ${there} commit --quiet --message "As it is")
must_run("git tag" ${there} tag v0)

foreach(way subdirectory fetched)
  foreach(shared OFF ON)
    set(type STATIC)
    if(shared)
      set(type SHARED)
    endif()
    set(build ${WORK}/${way}-${shared})
    must_run("configuring a project with feedline by ${way}"
      ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/${way} -B ${build}
      -D CMAKE_CXX_COMPILER=${CXX} -D FEEDLINE_SOURCE=${SOURCE} -D FEEDLINE_GIT=${repository}
      -D BUILD_SHARED_LIBS=${shared} -D FEEDLINE_CUDA=OFF
      -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0)
    foreach(wanted "tests OFF, programs OFF, samples OFF" "feedline is a ${type}_LIBRARY")
      if(NOT output MATCHES "${wanted}")
        message(FATAL_ERROR "${way}: expected '${wanted}' in:\n${output}")
      endif()
    endforeach()
    file(GLOB_RECURSE rules ${build}/cmake_install.cmake)
    foreach(rule IN LISTS rules)
      file(READ ${rule} text)
      if(text MATCHES "file\\(INSTALL")
        message(FATAL_ERROR "${way}: feedline would be installed with the project, by ${rule}")
      endif()
    endforeach()
    if(BUILD)
      must_run("building a project with feedline by ${way}, shared ${shared}"
        ${CMAKE_COMMAND} --build ${build} --parallel --target my_trainer)
      must_run("running a program with feedline by ${way}, shared ${shared}" ${build}/my_trainer)
      if(NOT output MATCHES "sum 499500")
        message(FATAL_ERROR "${way}: the program said ${output}")
      endif()
      message(STATUS "${way}, shared ${shared}: built, and runs")
    endif()
  endforeach()
endforeach()
file(REMOVE_RECURSE ${WORK})
