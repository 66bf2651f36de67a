#include "device/augment_row.hpp"

#include "device/element_lines.hpp"
#include "device/resized_lines.hpp"
#include "device/source_window.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace feedline::detail {
namespace {

class row_augmenter {
 public:
  row_augmenter(const field_conversion& conversion, const std::byte* row,
                std::uint32_t random_bits) noexcept
      : conversion_{conversion},
        flipped_{is_flipped(conversion, random_bits)},
        write_{line_writer_of<float>(conversion.from, conversion.to)},
        lines_{conversion, source_window_of(conversion, random_bits), row} {}

  void augment(std::byte* out) noexcept {
    for (std::uint32_t channel = 0; channel < conversion_.channels; ++channel)
      for (std::uint32_t x = 0; x < conversion_.to_width; x += strip_pixels)
        for (std::uint32_t y = 0; y < conversion_.to_height; ++y) {
          std::array<float, strip_pixels> strip;  // NOLINT: filled before it is read
          const std::span line{strip.data(),
                               std::min<std::size_t>(strip_pixels, conversion_.to_width - x)};
          lines_.make(channel, y, x, line);
          write(line, channel, y, x, out);
        }
  }

 private:
  /// @param x Counts before the flip.
  void write(std::span<const float> line, std::uint32_t channel, std::uint32_t y, std::uint32_t x,
             std::byte* out) const noexcept {
    const std::size_t width = conversion_.to_width;
    const std::size_t channels = conversion_.channels;
    const std::size_t to_x = flipped_ ? width - x - line.size() : x;
    const std::size_t at = conversion_.to_channels_last
                               ? (y * width + to_x) * channels + channel
                               : (channel * conversion_.to_height + y) * width + to_x;
    const std::size_t of = conversion_.per_channel ? channel : 0;
    write_(flipped_ ? &line.back() : line.data(), flipped_ ? -1 : 1,
           out + at * size_bytes(conversion_.to),
           conversion_.to_channels_last ? static_cast<std::ptrdiff_t>(channels) : 1,
           static_cast<std::ptrdiff_t>(line.size()),
           {conversion_.scale[of], conversion_.offset[of]});
  }

  const field_conversion& conversion_;
  bool flipped_;
  line_writer<float> write_;
  resized_lines lines_;
};

}  // namespace

void augment_row(const field_conversion& conversion, const std::byte* row,
                 std::uint32_t random_bits, std::byte* out) noexcept {
  row_augmenter{conversion, row, random_bits}.augment(out);
}

}  // namespace feedline::detail
