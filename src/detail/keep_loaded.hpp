#pragma once

namespace feedline::detail {

/// Keeps the shared library that holds this code loaded until the process ends, even if everybody
/// closes it (`dlclose`): for code that the system, or a thread that nobody waits for, may still
/// call. Nothing to do in a program's own code. Any thread; not a signal handler.
void keep_loaded() noexcept;

}  // namespace feedline::detail
