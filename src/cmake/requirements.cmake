# Finds what the build cannot do without, and refuses at once, in one message, if any of it is
# missing: with the names of Debian's and Ubuntu's packages.

set(feedline_oldest_GNU 12)
set(feedline_oldest_Clang 14)
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS "${feedline_oldest_${CMAKE_CXX_COMPILER_ID}}")
  message(FATAL_ERROR "feedline needs g++ 12 or clang 14 or newer, and found "
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}): install one "
    "(g++-12), and name it in the environment variable CXX")
endif()

set(found "")
set(missing "")
set(packages "")
# feedline_needs(NAME VERSION TEXT PACKAGE...): NAME is what find_package looked for.
macro(feedline_needs name version text)
  if(${name}_FOUND)
    list(APPEND found "${text} ${${version}}")
  else()
    list(APPEND missing "${text}")
    list(APPEND packages ${ARGN})
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(Boost 1.74 QUIET)
feedline_needs(Boost Boost_VERSION_STRING "Boost (1.74 or newer)" libboost-dev)
find_package(ZLIB QUIET)
feedline_needs(ZLIB ZLIB_VERSION_STRING "zlib" zlib1g-dev)
find_package(spdlog 1.10 QUIET)
feedline_needs(spdlog spdlog_VERSION "spdlog (1.10 or newer)" libspdlog-dev)
if(FEEDLINE_PYTHON)
  find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
  feedline_needs(Python Python_VERSION "Python with its headers (3.10 or newer)" python3-dev)
  if(Python_FOUND)
    find_package(nanobind 3.1 CONFIG QUIET)
    feedline_needs(nanobind nanobind_VERSION "nanobind (3.1 or newer, by pip)")
  endif()
endif()

if(missing)
  list(JOIN missing ", " missing_text)
  list(JOIN packages " " packages_text)
  string(CONCAT text "feedline cannot be built without what was not found here: ${missing_text}")
  if(packages)
    string(APPEND text "; on Debian and Ubuntu: apt-get install ${packages_text}")
  endif()
  message(FATAL_ERROR "${text}")
endif()
list(JOIN found ", " found_text)
message(STATUS "Needed and found: ${found_text}")

if(FEEDLINE_STATIC_DEPENDENCIES)
  get_target_property(feedline_spdlog_type spdlog::spdlog TYPE)
  if(NOT feedline_spdlog_type STREQUAL "STATIC_LIBRARY")
    message(FATAL_ERROR "FEEDLINE_STATIC_DEPENDENCIES is ON, but the spdlog in ${spdlog_DIR} is a "
      "shared library: build a static one, with a static fmt, and name its folder in "
      "CMAKE_PREFIX_PATH (.ci/wheel-libraries does so)")
  endif()
endif()
