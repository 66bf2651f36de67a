#include "image/resize/pixel_image.hpp"

#include "codecs/luma.hpp"

#include <cassert>
#include <cstring>

namespace feedline::detail {
namespace {

std::uint32_t load(const std::uint8_t* from, std::uint32_t bytes) noexcept {
  if (bytes == 1) return *from;
  std::uint16_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(std::uint8_t* to, std::uint32_t value, std::uint32_t bytes) noexcept {
  const auto wide = static_cast<std::uint16_t>(value);
  if (bytes == 1)
    *to = static_cast<std::uint8_t>(value);
  else
    std::memcpy(to, &wide, sizeof wide);
}

}  // namespace

void pixel_image::convert(pixel_format wanted) {
  const pixel_format now = format_;
  if (now == wanted) return;
  assert(wanted.value_bytes >= now.value_bytes);
  const std::uint64_t pixels = extents_.pixels();
  std::vector<std::uint8_t> made;
  const bool in_place = wanted.pixel_bytes() <= now.pixel_bytes();
  if (!in_place) made.resize(static_cast<std::size_t>(pixels) * wanted.pixel_bytes());
  const std::uint32_t factor = wanted.value_bytes > now.value_bytes ? 257 : 1;
  const std::uint8_t* from = bytes_.data();
  std::uint8_t* to = in_place ? bytes_.data() : made.data();
  for (std::uint64_t i = 0; i < pixels; ++i) {
    std::uint32_t values[3];
    for (std::size_t channel = 0; channel < 3; ++channel)
      values[channel] = factor * load(from + (now.channels == 1 ? 0 : channel * now.value_bytes),
                                      now.value_bytes);
    if (wanted.channels == 1) values[0] = luma_of(values[0], values[1], values[2]);
    for (std::size_t channel = 0; channel < wanted.channels; ++channel)
      store(to + channel * wanted.value_bytes, values[channel], wanted.value_bytes);
    from += now.pixel_bytes();
    to += wanted.pixel_bytes();
  }
  if (!in_place) bytes_.swap(made);
  format_ = wanted;
}

}  // namespace feedline::detail
