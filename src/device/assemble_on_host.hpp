#pragma once

#include <feedline/device/assembly.hpp>

namespace feedline::detail {

/// Does at once, on the CPU, what `device::assemble` issues: the reference. All memory that `work`
/// names is the host's.
void assemble_on_host(const assembly& work) noexcept;

}  // namespace feedline::detail
