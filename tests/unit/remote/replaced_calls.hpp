#pragma once

#include <atomic>

// Switches of the functions with which requests_test.cpp replaces those of the C library.

namespace feedline::test {

/// Whether the look-up of "lost.invalid" returns.
inline std::atomic<bool> name_server_answers{false};
/// How often it did.
inline std::atomic<int> answered_names{0};
/// Whether a thread pauses after it has sent a request.
inline std::atomic<bool> requests_pause{false};

}  // namespace feedline::test
