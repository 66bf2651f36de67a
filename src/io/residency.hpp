#pragma once

#include <cstdint>
#include <optional>

namespace feedline::detail {

/// What share of a file is in memory, 0 to 1, from samples spread over it: some ten microseconds,
/// whatever its size. Nothing where the system does not tell.
[[nodiscard]] std::optional<double> resident_share(int descriptor, std::uint64_t bytes) noexcept;

/// The two ways to know it. cachestat(2), of Linux 6.5 and newer, refuses files that the caller
/// does not own and may not write. (mincore(2) would say of these that all is in memory.)
[[nodiscard]] std::optional<double> resident_share_by_cachestat(int descriptor,
                                                                std::uint64_t bytes) noexcept;
/// Single bytes at random places, read with leave to refuse where that would wait: of local file
/// systems. What is refused is read in nevertheless, so the places are others each time; what a fast
/// disk brings before the system has refused it counts as being there.
[[nodiscard]] std::optional<double> resident_share_by_reads(int descriptor,
                                                            std::uint64_t bytes) noexcept;

}  // namespace feedline::detail
