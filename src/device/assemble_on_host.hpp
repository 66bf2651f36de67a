#pragma once

#include <feedline/device/assembly.hpp>

namespace feedline::detail {

/// Does at once, on the CPU, what `device::assemble` issues: the reference. All memory that `work`
/// names is the host's.
void assemble_on_host(const assembly& work) noexcept;

/// The last of it alone: mixes samples whose rows are in the slot. Of `work`, only where the slot's
/// rows and the random bits lie counts, and the mixing, which there must be.
void mix_on_host(const assembly& work) noexcept;

}  // namespace feedline::detail
