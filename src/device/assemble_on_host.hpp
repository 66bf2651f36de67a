#pragma once

#include <feedline/backend/assembly.hpp>

namespace feedline::detail {

/// Does on the CPU, before it returns, what `device::assemble` issues: the reference
/// implementation. All memory that `work` names is host memory.
void assemble_on_host(const assembly& work) noexcept;

/// Only the last step: mixes samples whose rows are in the slot. Uses only the positions of the
/// slot's rows and of the random bits in `work`, and its mixing, which must not be null.
void mix_on_host(const assembly& work) noexcept;

}  // namespace feedline::detail
