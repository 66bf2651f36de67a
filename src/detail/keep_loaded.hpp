#pragma once

namespace feedline::detail {

/// Keeps the shared library that holds this code loaded until the process ends, even if every user
/// closes it (`dlclose`): for code that the system, or a thread that is not joined, may still call.
/// Does nothing in a program's own code. Any thread; not in a signal handler.
void keep_loaded() noexcept;

}  // namespace feedline::detail
