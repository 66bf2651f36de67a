#include "sampler/weights.hpp"

#include <feedline/error.hpp>

#include "sampler/draws.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

namespace feedline::detail {
namespace {

u128 sum_of(std::span<const std::uint64_t> weights) noexcept {
  return std::accumulate(weights.begin(), weights.end(), u128{0});
}

}  // namespace

void require_weights(const char* who, std::span<const double> weights) {
  const std::string name{who};
  if (weights.empty()) throw usage_error{name + ": there are no weights; give it one or more"};
  double greatest = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && std::isfinite(weights[i])))
      throw usage_error{name + ": weight " + std::to_string(i) + " is " +
                        std::to_string(weights[i]) + "; a weight is a finite number from 0 up"};
    greatest = std::max(greatest, weights[i]);
  }
  if (greatest == 0)
    throw usage_error{name + ": all " + std::to_string(weights.size()) +
                      " weights are 0; one must be more, or nothing can be drawn"};
}

std::vector<std::uint64_t> integer_weights(const char* who, std::span<const double> weights) {
  require_weights(who, weights);
  int exponent = 0;
  (void)std::frexp(*std::max_element(weights.begin(), weights.end()), &exponent);
  constexpr int bits = 63;
  std::vector<std::uint64_t> integers(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    integers[i] = static_cast<std::uint64_t>(std::ldexp(weights[i], bits - exponent));
  return integers;
}

void divide_among(std::span<std::uint64_t> weights, std::uint64_t total) noexcept {
  const u128 sum = sum_of(weights);
  u128 remainder = 0;
  for (std::uint64_t& weight : weights) {
    remainder += u128{weight} * total;
    weight = static_cast<std::uint64_t>(remainder / sum);
    remainder -= weight * sum;
  }
}

std::vector<std::uint64_t> largest_remainders(std::span<const std::uint64_t> weights,
                                              std::uint64_t total) {
  const u128 sum = sum_of(weights);
  std::vector<std::uint64_t> shares;
  std::vector<u128> remainders;
  for (const std::uint64_t weight : weights) {
    const u128 product = u128{weight} * total;
    shares.push_back(static_cast<std::uint64_t>(product / sum));
    remainders.push_back(product % sum);
  }
  std::vector<std::size_t> by_remainder(weights.size());
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::stable_sort(by_remainder.begin(), by_remainder.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  std::uint64_t missing = total - std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
  for (std::size_t i = 0; missing != 0; ++i, --missing) ++shares[by_remainder[i]];
  return shares;
}

}  // namespace feedline::detail
