#pragma once

#include <cstdint>
#include <optional>

namespace feedline::detail {

/// What share of a file is in memory, 0 to 1, from samples spread over it: some ten microseconds,
/// whatever its size. Nothing where the system does not tell.
[[nodiscard]] std::optional<double> resident_share(int descriptor, std::uint64_t bytes) noexcept;

}  // namespace feedline::detail
