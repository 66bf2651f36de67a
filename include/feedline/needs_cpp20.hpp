#pragma once

// Before C++20 the headers give hundreds of errors about concepts and std::span. This is the one to
// read; the file that is not there stops the compiler. export.hpp includes this before all else.
#if defined(__cplusplus) && __cplusplus < 202002L
#error "feedline needs C++20: compile with -std=c++20 (nvcc, too)"
#include <feedline/stop_before_cpp20>
#endif
