#pragma once

#include "support/checks/nth_call.hpp"

#include <cstdint>

namespace feedline::test {

// Replacements of the system's `operator new` and `pthread_create` in a test program, which fail
// when a test says so. Any thread.

/// Calls of `operator new`, of all kinds; a due one finds no memory.
nth_call& allocations() noexcept;

/// Calls of `pthread_create`; a due one is refused with EAGAIN.
nth_call& thread_creations() noexcept;

/// Number of blocks from `operator new` that are not deleted yet. Catch keeps memory of the first
/// messages that a test captures: capture as many before the blocks are counted.
[[nodiscard]] std::int64_t living_blocks() noexcept;

}  // namespace feedline::test
