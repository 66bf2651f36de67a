#include "device/resized_lines.hpp"

#include <algorithm>
#include <limits>

namespace feedline::detail {

resized_lines::resized_lines(const field_conversion& conversion, const image_part& window,
                             const std::byte* row) noexcept
    : conversion_{conversion},
      window_{window},
      row_{row},
      read_{line_reader_of<float>(conversion.from)},
      pixel_bytes_{size_bytes(conversion.from) *
                   (conversion.channels_last ? conversion.channels : 1)} {}

void resized_lines::move_to(std::uint32_t channel, std::uint32_t x, std::size_t pixels) noexcept {
  if (channel == channel_ && x == x_ && pixels == pixels_) return;
  channel_ = channel;
  x_ = x;
  pixels_ = pixels;
  for (std::uint32_t i = 0; i < pixels; ++i)
    columns_[i] = taps_of(x + i, window_.width, conversion_.to_width);
  kept_.fill(std::numeric_limits<std::uint32_t>::max());
}

const resized_lines::strip& resized_lines::columns_of(std::uint32_t line) noexcept {
  strip& out = lines_[line % kept_lines];
  std::uint32_t& kept = kept_[line % kept_lines];
  if (kept == line) return out;
  kept = line;
  const std::size_t plane = conversion_.channels_last ? 0 : channel_;
  const std::size_t first =
      (plane * conversion_.height + window_.top + line) * conversion_.width + window_.left;
  const std::byte* const from =
      row_ + first * pixel_bytes_ +
      (conversion_.channels_last ? channel_ * size_bytes(conversion_.from) : 0);
  for (std::size_t i = 0; i < pixels_; ++i) {
    const resize_taps& taps = columns_[i];
    const std::byte* element = from + taps.first * pixel_bytes_;
    float total = 0.0F;
    for (std::uint32_t tap = 0; tap < taps.count; ++tap, element += pixel_bytes_) {
      float value = 0.0F;
      read_(element, 1, &value);
      total = sum(total, product(taps.weight(tap), value));
    }
    out[i] = quotient(total, taps.total);
  }
  return out;
}

void resized_lines::make(std::uint32_t channel, std::uint32_t y, std::uint32_t x,
                         std::span<float> line) noexcept {
  move_to(channel, x, line.size());
  const resize_taps rows = taps_of(y, window_.height, conversion_.to_height);
  std::fill(line.begin(), line.end(), 0.0F);
  for (std::uint32_t tap = 0; tap < rows.count; ++tap) {
    const strip& values = columns_of(rows.first + tap);
    const float weight = rows.weight(tap);
    for (std::size_t i = 0; i < line.size(); ++i)
      line[i] = sum(line[i], product(weight, values[i]));
  }
  for (float& value : line) value = quotient(value, rows.total);
}

}  // namespace feedline::detail
