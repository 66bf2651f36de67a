#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// @param who Begins the message: "weighted".
/// @throws usage_error naming the weight and its index, if there is none, one is negative, infinite
///         or not a number, or all are 0.
void require_weights(const char* who, std::span<const double> weights);

/// Weights as integers in the same proportions: each is the weight times one power of two, rounded
/// down; the greatest is from 2^62 to 2^63. So weights below 2^-63 of the greatest become 0. The
/// same on every platform.
/// @throws usage_error as above.
[[nodiscard]] std::vector<std::uint64_t> integer_weights(const char* who,
                                                         std::span<const double> weights);

/// Puts in place of each weight its share of `total`, in integers whose sum is `total`: weight ×
/// total / sum, rounded down, plus 1 at times, where the remainders before it make up 1. A
/// weight of 0 gets 0.
/// @param weights Below 2^63 each, fewer than 2^32; not all 0.
void divide_among(std::span<std::uint64_t> weights, std::uint64_t total) noexcept;

/// Shares as above by the largest remainders: weight × total / sum, rounded down, and 1 more for
/// those with the largest remainders, the earlier one among equals.
[[nodiscard]] std::vector<std::uint64_t> largest_remainders(std::span<const std::uint64_t> weights,
                                                            std::uint64_t total);

}  // namespace feedline::detail
