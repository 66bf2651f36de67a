# cmake -D SOURCE=… -D LIBRARIES=… and what installed.cmake needs -P exporting_test.cmake
#
# A project (the folder `exporting`) installs and exports a static library that uses feedline, which
# it has in a folder or finds. A third project finds that library, is linked and runs. LIBRARIES:
# feedline's, from this build, stand in for those that the folder would be compiled to.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
string(REPLACE "," ";" LIBRARIES "${LIBRARIES}")
set(common -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${CXX}
  "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")

# try(WAY PREFIXES ARGUMENT…): PREFIXES, joined by colons, are where the third project finds both
# packages.
function(try way prefixes)
  set(build ${WORK}/${way})
  must_run("configuring a project that exports a library, with feedline ${way}"
    ${CMAKE_COMMAND} ${common} -S ${source}/exporting -B ${build} ${ARGN}
    -D CMAKE_OPTIMIZE_DEPENDENCIES=ON)  # an archive is made without those that it links
  if(EXISTS ${build}/feedline/src)
    file(COPY ${LIBRARIES} DESTINATION ${build}/feedline/src)
  endif()
  must_run("building a library that uses feedline"
    ${CMAKE_COMMAND} --build ${build} --config ${CONFIG} --target my_reader)
  must_run("installing a library that uses feedline"
    ${CMAKE_COMMAND} --install ${build} --prefix ${WORK}/${way}-installed --config ${CONFIG})
  set(ENV{CMAKE_PREFIX_PATH} ${prefixes})
  must_run("configuring a project that finds a library that uses feedline ${way}"
    ${CMAKE_COMMAND} ${common} -S ${source}/exporting/user -B ${build}-user
    -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON)
  unset(ENV{CMAKE_PREFIX_PATH})
  must_run("building a project that finds a library that uses feedline ${way}"
    ${CMAKE_COMMAND} --build ${build}-user --config ${CONFIG})
  must_run("running a program that finds a library that uses feedline ${way}" ${build}-user/user)
  must_contain("a program that finds a library that uses feedline ${way}" "${output}" "sum 499500")
endfunction()

try(found ${WORK}/found-installed:${prefix} -D CMAKE_PREFIX_PATH=${prefix})
file(REMOVE_RECURSE ${prefix})  # so that the third project finds none but that of the second
try(subdirectory ${WORK}/subdirectory-installed -D FEEDLINE_SOURCE=${SOURCE}
  -D FEEDLINE_CUDA=OFF -D FEEDLINE_HDF5=${HAS_HDF5})
file(REMOVE_RECURSE ${WORK})
