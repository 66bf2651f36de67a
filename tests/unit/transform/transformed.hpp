#pragma once

#include <feedline/error.hpp>
#include <feedline/transform/field_transform.hpp>

#include "device/transform_row.hpp"
#include "support/checks/message_of.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/draws.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::test {

/// Samples of a test of a distribution.
inline constexpr std::uint32_t many = 1'000'000;
/// The bound of a probability of 1: every 32-bit draw is below it.
inline constexpr std::uint64_t always = std::uint64_t{1} << 32;

/// Random bits of sample i.
inline std::uint32_t bits_of(std::uint32_t i) {
  return detail::draw(i, detail::choice{12345});
}

/// Whether a count out of `of` is what a probability gives, within 5 standard deviations.
inline bool is_share(int count, double of, double probability) {
  return std::abs(count - of * probability) < 5 * std::sqrt(of * probability * (1 - probability));
}

/// A transform of field "x", from bytes to floats.
inline field_transform plain() {
  return {.field = "x", .layout = image_layout::hwc};
}

/// An image of bytes after a transform.
inline std::vector<float> transformed(const field_transform& transform,
                                      const std::vector<std::byte>& row, std::uint32_t height,
                                      std::uint32_t width, std::uint32_t channels,
                                      std::uint32_t random_bits) {
  const auto converted =
      detail::convert_fields({{"x", element_type::u8, {height, width, channels}}}, {transform});
  std::vector<float> out(sample_bytes(converted.fields[0]) / sizeof(float));
  detail::transform_row(converted.conversions[0], row.data(), row.size(), random_bits,
                        reinterpret_cast<std::byte*>(out.data()));
  return out;
}

/// The message with which a transform is refused; empty: it is not.
inline std::string refusal(const field_transform& transform,
                           const field& of = {"x", element_type::u8, {8, 6, 3}}) {
  return message_of<usage_error>([&] { (void)detail::convert_fields({of}, {transform}); });
}

}  // namespace feedline::test
