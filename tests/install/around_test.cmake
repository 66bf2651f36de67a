# cmake -D SOURCE=… -D WORK=… -D GENERATOR=… -D CXX=… -D NVCC=… -P around_test.cmake
#
# A project (the folder `around`) is configured with feedline in it and without. Both see the same
# variables, cache, environment and properties, but for what find_package and the languages cache
# and what begins with FEEDLINE. Where there is an nvcc, feedline has its CUDA backend.

cmake_minimum_required(VERSION 3.25)
foreach(variable CC CXX CUDACXX CUDAARCHS CUDAFLAGS CMAKE_EXPORT_COMPILE_COMMANDS)
  unset(ENV{${variable}})
endforeach()
file(REMOVE_RECURSE ${WORK})
set(faults "")

# Variables that may come with feedline: its own; those of FetchContent and of a second project();
# those that the packages that it finds keep (their folders, files and versions); languages that it
# enables.
set(may_come "^(FEEDLINE_|feedline_|FETCHCONTENT_|CMAKE_PROJECT_VERSION(_[A-Z]+)?="
  "|FIND_PACKAGE_MESSAGE_DETAILS_"
  "|(Boost|boost_headers|spdlog|fmt|nlohmann_json|pugixml)_(DIR|FOUND|INCLUDE_DIR)="
  "|(HDF5|JPEG|PNG|ZLIB|CURL|MPI|MPIEXEC|CUDAToolkit|CUDA)_|CMAKE_HAVE_(LIBC_)?PTHREAD"
  "|pkgcfg_lib_|PC_|PKG_CONFIG_|CMAKE_C(UDA)?_)")
list(JOIN may_come "" may_come)

# configure(BUILD ARGUMENT…): configures `around`, and again, as a user's next run does.
function(configure build)
  foreach(run 1 2)
    execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/around
        -B ${WORK}/${build} -D CMAKE_CXX_COMPILER=${CXX} ${ARGN}
      RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "configuring ${build} failed:\n${output}")
    endif()
    file(RENAME ${WORK}/${build}/seen ${WORK}/${build}/seen_${run})
  endforeach()
endfunction()

# read_seen(PREFIX FILE): the names that it saw into ${PREFIX}_names, their lines into
# ${PREFIX}_NAME.
macro(read_seen prefix file)
  set(${prefix}_names "")
  file(STRINGS ${WORK}/${file} lines)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^[^=]*" name "${line}")
    list(APPEND ${prefix}_names "${name}")
    set("${prefix}_${name}" "${line}")
  endforeach()
endmacro()

# compare(WHAT WITH WITHOUT): what the builds WITH and WITHOUT saw, in both runs.
function(compare what with without)
  foreach(run 1 2)
    read_seen(without ${without}/seen_${run})
    read_seen(with ${with}/seen_${run})
    list(LENGTH with_names count)
    if(count LESS 150)
      message(FATAL_ERROR "${what}: it saw ${count} things only: this test misreads them")
    endif()
    # The first run works out compilers, wherever they are enabled first, and leaves its scratch.
    if(run EQUAL 2)
      list(APPEND with_names ${without_names})
    endif()
    foreach(name IN LISTS with_names)
      if(NOT name IN_LIST without_names)
        if(NOT with_${name} MATCHES "${may_come}")
          list(APPEND faults "${what}: comes with feedline: ${with_${name}}")
        endif()
      elseif(NOT with_${name} STREQUAL without_${name})
        list(APPEND faults "${what}: '${without_${name}}' becomes '${with_${name}}'")
      endif()
    endforeach()
  endforeach()
  if(EXISTS ${WORK}/${with}/compile_commands.json)
    list(APPEND faults "${what}: has a file compile_commands.json")
  endif()
  list(REMOVE_DUPLICATES faults)
  set(faults "${faults}" PARENT_SCOPE)
endfunction()

# expect_target(BUILD LINE…): lines of what became of feedline's targets.
function(expect_target build)
  file(READ ${WORK}/${build}/feedline_targets text)
  foreach(line IN LISTS ARGN)
    string(FIND "${text}" "${line}\n" at)
    if(at EQUAL -1)
      list(APPEND faults "${build}: feedline's targets are not '${line}', but\n${text}")
    endif()
  endforeach()
  set(faults "${faults}" PARENT_SCOPE)
endfunction()

# A project that sets nothing: feedline's targets are as feedline wants them, its own are unchanged.
configure(plain)
configure(plain-with -D WAY=subdirectory -D FEEDLINE_SOURCE=${SOURCE})
compare("a plain project" plain-with plain)
expect_target(plain-with "feedline_core TYPE STATIC_LIBRARY" "feedline_core UNITY_BUILD ON"
  "feedline_core UNITY_BUILD_BATCH_SIZE 40")

# Its own settings hold for feedline, too.
configure(own -D OWN=ON)
configure(own-with -D OWN=ON -D WAY=fetched -D FEEDLINE_SOURCE=${SOURCE} -D FEEDLINE_HDF5=OFF)
compare("a project with settings of its own" own-with own)
expect_target(own-with "feedline_core TYPE SHARED_LIBRARY" "feedline_core UNITY_BUILD ON"
  "feedline_core UNITY_BUILD_BATCH_SIZE 7")

if(NVCC)
  expect_target(own-with "feedline_cuda_kernels CUDA_ARCHITECTURES 80-real")
  expect_target(plain-with
    "feedline_cuda_kernels CUDA_ARCHITECTURES 75-virtual 80-real 90-real 90-virtual")
  # One that compiles its own kernels, and leaves their architectures to CMake. CMake looks for a
  # compiler on the PATH alone; feedline looks elsewhere, too.
  get_filename_component(nvcc_folder ${NVCC} DIRECTORY)
  set(ENV{PATH} "${nvcc_folder}:$ENV{PATH}")
  configure(cuda -D CUDA=ON)
  configure(cuda-with -D CUDA=ON -D WAY=subdirectory -D FEEDLINE_SOURCE=${SOURCE}
    -D FEEDLINE_HDF5=OFF)
  compare("a project that enables CUDA" cuda-with cuda)
  expect_target(cuda-with
    "feedline_cuda_kernels CUDA_ARCHITECTURES 75-virtual 80-real 90-real 90-virtual")
endif()

# A compiler that works nowhere: the project does not learn that there is none.
file(WRITE ${WORK}/bin/nvcc "#!/bin/sh\nexit 1\n")
file(CHMOD ${WORK}/bin/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(ENV{PATH} "${WORK}/bin:$ENV{PATH}")
configure(broken)
configure(broken-with -D WAY=subdirectory -D FEEDLINE_SOURCE=${SOURCE} -D FEEDLINE_HDF5=OFF)
compare("a project where no CUDA compiler works" broken-with broken)
file(STRINGS ${WORK}/broken-with/CMakeCache.txt lines REGEX "CMAKE_CUDA_COMPILER")
if(lines)
  list(APPEND faults "a project where no CUDA compiler works has ${lines}")
endif()

if(faults)
  list(JOIN faults "\n* " text)
  message(FATAL_ERROR "feedline changes the project around it:\n* ${text}")
endif()
file(REMOVE_RECURSE ${WORK})
