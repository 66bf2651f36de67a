#pragma once

// Before C++20 the headers cause hundreds of errors about concepts and std::span. This error says
// why, and the missing file stops the compiler. export.hpp includes this header first.
#if defined(__cplusplus) && __cplusplus < 202002L
#error "feedline needs C++20: compile with -std=c++20 (nvcc, too)"
#include <feedline/stop_before_cpp20>
#endif
