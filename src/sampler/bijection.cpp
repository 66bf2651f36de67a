#include "sampler/bijection.hpp"

#include <feedline/detail/splitmix64.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>

namespace feedline::detail {
namespace {

constexpr std::size_t block_positions = 256;

/// Eight rounds pass every test we know from 2^7 values on. On a tiny domain a round has few
/// choices, so that all permutations become equally likely only after many.
constexpr std::size_t rounds_for(unsigned bits) noexcept {
  return bits < 8 ? 24 : 8;
}

}  // namespace

bijection::bijection(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) noexcept
    : size_{size} {
  // At least a bit in each half.
  const auto bits =
      static_cast<unsigned>(std::max(2, static_cast<int>(std::bit_width(size - (size != 0)))));
  network_.right_bits = bits - bits / 2;
  network_.left_mask = (std::uint64_t{1} << (bits / 2)) - 1;
  network_.right_mask = (std::uint64_t{1} << network_.right_bits) - 1;
  network_.rounds = rounds_for(bits);

  // One seed's epochs start from different states, for the multiplier is odd.
  std::uint64_t state = mix(mix(seed + golden_gamma) + epoch * golden_gamma);
  for (std::size_t i = 0; i < network_.rounds; ++i) network_.keys[i] = mix(state += golden_gamma);
}

/// @param value_at The value to encipher for a place of `out`; may be what stands there.
template <class ValueAt>
void bijection::evaluate_block(ValueAt value_at, std::span<sample_index> out) const noexcept {
  static_assert(block_positions % max_encipher_lanes == 0);
  const encipher_version version = encipher_versions().front();
  std::array<std::uint64_t, block_positions> values;
  const auto encipher_first = [&](std::size_t count) {
    const std::size_t padded = round_up(count, version.lanes);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(count),
              values.begin() + static_cast<std::ptrdiff_t>(padded), 0);
    version.encipher(network_, std::span{values}.first(padded));
  };
  // Places of `out` whose value is still beyond the range. Collected without a branch: every place
  // is written down, and the count moves on only past those that stay.
  std::array<std::uint32_t, block_positions> beyond;
  std::size_t walking = 0;
  const auto settle = [&](std::size_t place, std::uint64_t value) {
    out[place] = sample_index{value};
    beyond[walking] = static_cast<std::uint32_t>(place);
    walking += value >= size_ ? 1 : 0;
  };

  for (std::size_t i = 0; i < out.size(); ++i) values[i] = value_at(i);
  encipher_first(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) settle(i, values[i]);
  while (walking != 0) {
    const std::size_t count = walking;
    walking = 0;  // never overtakes `i`: what is kept was read before
    for (std::size_t i = 0; i < count; ++i) values[i] = out[beyond[i]].value;
    encipher_first(count);
    for (std::size_t i = 0; i < count; ++i) settle(beyond[i], values[i]);
  }
}

void bijection::evaluate(position first, std::span<sample_index> out) const noexcept {
  assert(first.value <= size_ && out.size() <= size_ - first.value);
  if (size_ == 1) {
    std::ranges::fill(out, sample_index{0});
    return;
  }
  for (std::size_t at = 0; at < out.size(); at += block_positions) {
    const std::uint64_t start = first.value + at;
    evaluate_block([start](std::size_t place) { return start + place; },
                   out.subspan(at, std::min(block_positions, out.size() - at)));
  }
}

void bijection::evaluate(std::span<sample_index> values) const noexcept {
  if (size_ <= 1) return;  // 0 is its own image
  for (std::size_t at = 0; at < values.size(); at += block_positions) {
    const auto block = values.subspan(at, std::min(block_positions, values.size() - at));
    evaluate_block([block](std::size_t place) { return block[place].value; }, block);
  }
}

std::uint64_t bijection::place_of(std::uint64_t image) const noexcept {
  assert(image < size_);
  if (size_ == 1) return 0;
  // The walk that led from the place to the image, backwards.
  do image = network_.decipher(image);
  while (image >= size_);
  return image;
}

}  // namespace feedline::detail
