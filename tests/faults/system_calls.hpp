#pragma once

#include "support/checks/nth_call.hpp"

#include <cstdint>

namespace feedline::test {

// What a program of tests puts in the place of the system's: `operator new` and `pthread_create`,
// which fail when they are told to. Any thread.

/// Calls of `operator new`, of all kinds; a due one finds no memory.
nth_call& allocations() noexcept;

/// Calls of `pthread_create`; a due one is refused with EAGAIN.
nth_call& thread_creations() noexcept;

/// Blocks that `operator new` gave and nobody has deleted yet. Catch keeps memory of the first
/// messages that a test captures: capture as many before the blocks are counted.
[[nodiscard]] std::int64_t living_blocks() noexcept;

}  // namespace feedline::test
