#pragma once

#include <feedline/image/annotations.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

// Images of a white rectangle on black, and boxes read back.

namespace feedline::test {

using box = std::array<float, 4>;

/// Black, with the box in white. @param bounds Whole numbers.
inline pixels with_rectangle(std::uint32_t height, std::uint32_t width, const box& bounds) {
  pixels image{height, width, 3, std::vector<std::uint8_t>(std::size_t{3} * height * width)};
  for (auto y = static_cast<std::uint32_t>(bounds[1]); y < static_cast<std::uint32_t>(bounds[3]);
       ++y)
    for (auto x = static_cast<std::uint32_t>(bounds[0]); x < static_cast<std::uint32_t>(bounds[2]);
         ++x)
      std::fill_n(image.values.begin() + std::ptrdiff_t{3} * (y * width + x), 3, std::uint8_t{255});
  return image;
}

template <class Value>
std::vector<Value> values_of(std::span<const std::byte> bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

/// A field of a sample, read outside of a loader.
template <class Value>
std::vector<Value> field_of(const dataset& from, std::uint64_t sample, const std::string& name) {
  const auto fields = from.fields();
  const auto found = std::ranges::find(fields, name, &field::name);
  REQUIRE(found != fields.end());
  const auto content = read_sample(from, {sample});
  return values_of<Value>(content[static_cast<std::size_t>(found - fields.begin())]);
}

/// The boxes of a sample that are used.
inline std::vector<box> boxes_of(const dataset& from, std::uint64_t sample) {
  const auto numbers = field_of<float>(from, sample, "boxes");
  const auto count = field_of<std::int32_t>(from, sample, "boxes_length").at(0);
  std::vector<box> boxes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < boxes.size(); ++i)
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(4 * i), 4, boxes[i].begin());
  return boxes;
}

}  // namespace feedline::test
