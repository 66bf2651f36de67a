#pragma once

#include <filesystem>
#include <optional>

namespace feedline::detail {

/// Cores that the calling thread, and threads that it starts, may keep busy: of those there are, as
/// many as its affinity mask allows and its control groups' quota pays for. At least 1.
[[nodiscard]] unsigned usable_cores() noexcept;

/// Whole cores that the CPU quota of this process's control groups (versions 1 and 2) pays for, at
/// least 1. Nothing where there is no quota.
/// @param root Where `proc` and `sys` are: "/".
[[nodiscard]] std::optional<unsigned> quota_cores(const std::filesystem::path& root);

}  // namespace feedline::detail
