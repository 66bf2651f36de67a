#pragma once

/// Catch2, whichever of its major versions is installed.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // Catch2 2 has it in the global namespace
#else
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#endif

/// Ends the test case here and shows it as skipped in ctest's report, with the reason.
#define FEEDLINE_SKIP(reason)             \
  do {                                    \
    WARN("[feedline skip] " << (reason)); \
    return;                               \
  } while (false)
