#pragma once

#include <feedline/dataset/dataset.hpp>

#include "sampler/draws.hpp"
#include "sampler/ranked.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Seeds of the order within a part, and of the order within a block.
inline constexpr std::uint64_t part_role = 0x8CB9'2BA7'2F3D'8DD7;
inline constexpr std::uint64_t block_role = 0xEB44'ACCA'B455'D165;
/// Positions whose parts come in random order.
inline constexpr std::size_t block_places = 64;

/// Number of samples of each dataset.
/// @param who Begins the message: "mixture".
/// @throws usage_error if one is null.
[[nodiscard]] std::vector<std::uint64_t> sizes_of(const std::string& who,
                                                  const std::vector<dataset_ptr>& parts);

/// Sums of the numbers before each, and of all.
/// @throws usage_error if the sum exceeds 64 bits.
[[nodiscard]] std::vector<std::uint64_t> sums_of(const std::string& who,
                                                 const std::vector<std::uint64_t>& numbers);

/// The part at an index of a sequence in which parts are spread evenly, with its rank: the
/// number of earlier indices that the part has. Halves the parts repeatedly. If some parts together
/// have P indices, the first half of the parts has ⌊P × its count / their count⌋ of them.
/// @param before For each part, the number of indices of all parts before it; then their number.
[[nodiscard]] ranked locate(std::span<const std::uint64_t> before, std::uint64_t place) noexcept;

/// Number of indices that a part has among the first `places`: the rank of its next one.
[[nodiscard]] std::uint64_t count_before(std::span<const std::uint64_t> before, std::uint64_t part,
                                         std::uint64_t places) noexcept;

}  // namespace feedline::detail
