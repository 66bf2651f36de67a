# Compilers: the CUDA language if there is a toolkit, sanitizers for all code, warnings for
# feedline's own.

include(${CMAKE_CURRENT_LIST_DIR}/feedline-libraries.cmake)

set(FEEDLINE_HAS_CUDA OFF)
if(NOT FEEDLINE_CUDA STREQUAL "OFF")
  # CMake remembers that it found no toolkit, but one that is installed later must be found. The
  # result of a project around feedline is kept.
  if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE)
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER)
    # CMake searches only the PATH, which often lacks a toolkit's usual folder.
    find_program(feedline_nvcc nvcc PATHS /usr/local/cuda/bin NO_CACHE)
    set(feedline_names_nvcc OFF)
    if(feedline_nvcc AND NOT DEFINED ENV{CUDACXX})
      set(feedline_names_nvcc ON)
      set(ENV{CUDACXX} ${feedline_nvcc})
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(feedline_names_nvcc)
      unset(ENV{CUDACXX})
    endif()
    if(NOT CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER)
    set(feedline_architectures_given OFF)
    if(DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS})  # CMake takes either
      set(feedline_architectures_given ON)
    endif()
    enable_language(CUDA)
    feedline_know_cuda20()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(FEEDLINE_HAS_CUDA ON)
    # If none are given, the language caches the compiler's oldest: a project around feedline needs
    # that for its own targets. Feedline's targets are compiled for Turing and newer: machine code
    # for the data-centre parts, PTX for the rest.
    if(NOT feedline_architectures_given)
      set(FEEDLINE_CUDA_OLDEST "${CMAKE_CUDA_ARCHITECTURES}" CACHE INTERNAL
          "What CMAKE_CUDA_ARCHITECTURES is if nobody gives it")
    endif()
    if(CMAKE_CUDA_ARCHITECTURES STREQUAL FEEDLINE_CUDA_OLDEST)
      set(CMAKE_CUDA_ARCHITECTURES "75-virtual;80-real;90-real;90-virtual")
    endif()
    message(STATUS "feedline's kernels are compiled for ${CMAKE_CUDA_ARCHITECTURES}")
    feedline_before_cuda_toolkit()
    find_package(CUDAToolkit REQUIRED)
    feedline_after_cuda_toolkit()
  elseif(FEEDLINE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FEEDLINE_CUDA is ON, but no CUDA compiler was found: "
      "put nvcc on the PATH or set CUDACXX, and configure with -U CMAKE_CUDA_COMPILER")
  else()
    message(STATUS "Not found, and left out: CUDA (NVIDIA's toolkit, with nvcc)")
  endif()
endif()

if(FEEDLINE_SANITIZE STREQUAL "address")
  # AddressSanitizer itself finds null pointers and accesses outside of objects. Checks of dynamic
  # types are left out because they take long to compile.
  set(feedline_sanitizer_flags
    -fsanitize=address -fsanitize=undefined -fno-sanitize=null,object-size,vptr
    -fno-sanitize-recover=undefined)
elseif(FEEDLINE_SANITIZE STREQUAL "thread")
  set(feedline_sanitizer_flags -fsanitize=thread)
elseif(FEEDLINE_SANITIZE)
  message(FATAL_ERROR
    "FEEDLINE_SANITIZE is '${FEEDLINE_SANITIZE}': say address, thread, or nothing")
endif()
if(feedline_sanitizer_flags)
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:C,CXX>:${feedline_sanitizer_flags};-fno-omit-frame-pointer>")
  add_link_options("$<$<LINK_LANGUAGE:C,CXX>:${feedline_sanitizer_flags}>")
  if(FEEDLINE_HAS_CUDA)  # nvcc hands flags to the host compiler one by one
    list(TRANSFORM feedline_sanitizer_flags PREPEND "-Xcompiler="
      OUTPUT_VARIABLE feedline_sanitizer_cuda_flags)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${feedline_sanitizer_cuda_flags}>")
    add_link_options("$<$<LINK_LANGUAGE:CUDA>:${feedline_sanitizer_cuda_flags}>")
  endif()
endif()

# feedline_private_options(TARGET): warnings for feedline's own code; users of the target inherit
# nothing.
function(feedline_private_options target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall;-Xcompiler=-Wextra>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wconversion;-Xcompiler=-Wshadow>")
  # When optimizing, g++ 12 warns of an overlap within its own std::string if `"literal" + string`
  # is inlined: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE
      "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-Wno-restrict>")
  endif()
  if(CMAKE_UNITY_BUILD OR feedline_as_one)  # a source's names hide those of the sources before it
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>")
  endif()
  if(FEEDLINE_WERROR)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-Werror>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>")
  endif()
endfunction()

# feedline_reads_command_line(SOURCE): for a source that includes CLI11, which is slow to compile
# and runs once, at a program's start.
function(feedline_reads_command_line source)
  set(options "$<$<NOT:$<CONFIG:Debug>>:-O1>")
  if(FEEDLINE_SANITIZE)
    set(options -O0)
  endif()
  set_source_files_properties(${source} PROPERTIES
    COMPILE_OPTIONS "${options}" SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
