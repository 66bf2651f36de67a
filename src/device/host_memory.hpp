#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace feedline::detail {

/// Bytes of host memory that this process may still use without swapping: what the system has left,
/// or less if a control group, or one that holds it, is limited. Pages of files count as free.
/// @param root "/"; a test's own folder. Empty: the system does not tell.
[[nodiscard]] std::optional<std::size_t> free_host_bytes(const std::filesystem::path& root = "/");

}  // namespace feedline::detail
