#pragma once

/// CLI11, whose functions are not optimized in tests and benchmarks: it runs once, before what they
/// do begins, and takes g++ ten seconds of each source otherwise.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O0")
#endif
#include <CLI/CLI.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
