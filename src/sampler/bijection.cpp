#include "sampler/bijection.hpp"

#include "detail/splitmix64.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace feedline::detail {
namespace {

constexpr std::size_t block_positions = 256;

/// The round function. The key comes between two multiplications: the first spreads the half over
/// 64 bits, the second makes each of the upper 32 depend on all of them.
constexpr std::uint64_t scramble(std::uint64_t half, std::uint64_t key) noexcept {
  return (((half * 0xD6E8FEB86659FD93) ^ key) * golden_gamma) >> 32;
}

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
  right_bits_ = bits - bits / 2;
  left_mask_ = (std::uint64_t{1} << (bits / 2)) - 1;
  right_mask_ = (std::uint64_t{1} << right_bits_) - 1;
  rounds_ = rounds_for(bits);

  // One seed's epochs start from different states, for the multiplier is odd.
  std::uint64_t state = mix(mix(seed + golden_gamma) + epoch * golden_gamma);
  for (std::size_t i = 0; i < rounds_; ++i) keys_[i] = mix(state += golden_gamma);
}

void bijection::encipher(lane_array& values) const noexcept {
  lane_array left{};
  lane_array right{};
  for (std::size_t i = 0; i < lanes; ++i) {
    left[i] = values[i] >> right_bits_;
    right[i] = values[i] & right_mask_;
  }
  for (std::size_t round = 0; round < rounds_; round += 2) {
    const auto left_key = keys_[round];
    const auto right_key = keys_[round + 1];
    for (std::size_t i = 0; i < lanes; ++i) left[i] ^= scramble(right[i], left_key) & left_mask_;
    for (std::size_t i = 0; i < lanes; ++i) right[i] ^= scramble(left[i], right_key) & right_mask_;
  }
  for (std::size_t i = 0; i < lanes; ++i) values[i] = left[i] << right_bits_ | right[i];
}

std::uint64_t bijection::decipher(std::uint64_t value) const noexcept {
  std::uint64_t left = value >> right_bits_;
  std::uint64_t right = value & right_mask_;
  for (std::size_t round = rounds_; round != 0; round -= 2) {
    right ^= scramble(left, keys_[round - 1]) & right_mask_;
    left ^= scramble(right, keys_[round - 2]) & left_mask_;
  }
  return left << right_bits_ | right;
}

/// @param value_at The value to encipher for a place of `out`; may be what stands there.
template <class ValueAt>
void bijection::evaluate_block(ValueAt value_at, std::span<sample_index> out) const noexcept {
  // Places of `out` whose value is still beyond the range. Collected without a branch: every place
  // is written down, and the count moves on only past those that stay.
  std::array<std::uint32_t, block_positions> beyond;
  std::size_t walking = 0;
  const auto settle = [&](std::size_t place, std::uint64_t value) {
    out[place] = sample_index{value};
    beyond[walking] = static_cast<std::uint32_t>(place);
    walking += value >= size_ ? 1 : 0;
  };

  lane_array values{};
  for (std::size_t at = 0; at < out.size(); at += lanes) {
    const std::size_t used = std::min(lanes, out.size() - at);
    for (std::size_t i = 0; i < lanes; ++i) values[i] = value_at(at + std::min(i, used - 1));
    encipher(values);
    for (std::size_t i = 0; i < used; ++i) settle(at + i, values[i]);
  }
  while (walking != 0) {
    const std::size_t count = walking;
    walking = 0;  // never overtakes `at`: what is kept was read before
    for (std::size_t at = 0; at < count; at += lanes) {
      const std::size_t used = std::min(lanes, count - at);
      std::array<std::uint32_t, lanes> places{};
      for (std::size_t i = 0; i < lanes; ++i) {
        places[i] = beyond[at + std::min(i, used - 1)];
        values[i] = out[places[i]].value;
      }
      encipher(values);
      for (std::size_t i = 0; i < used; ++i) settle(places[i], values[i]);
    }
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
  do image = decipher(image);
  while (image >= size_);
  return image;
}

}  // namespace feedline::detail
