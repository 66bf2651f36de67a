#pragma once

#include <cstdint>
#include <string>

namespace feedline::detail {

/// Descriptors that this process may have open at once: its soft limit RLIMIT_NOFILE.
[[nodiscard]] std::uint64_t descriptor_limit() noexcept;

/// Raises the process's soft limit to its hard one, but not above 2^20: once in a process, so that
/// a later lowering of the limit is respected. Logs it at the level `debug`. Any thread; if another
/// is doing so, waits until the limit is raised.
void raise_descriptor_limit() noexcept;

}  // namespace feedline::detail
