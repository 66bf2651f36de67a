#include "device/transform_row.hpp"

#include "device/augment_row.hpp"
#include "device/element_lines.hpp"
#include "device/sample_random_bits.hpp"
#include "transform/operations/packed_elements.hpp"

#include <algorithm>
#include <array>
#include <cstring>

// A row passes through a small buffer of floats, or of integers if they are only cast: adjacent
// elements are read into it, then scaled channel by channel and written to their positions. So
// there is one reading loop for each type and one writing loop for each type and step, not one for
// each pair of types, and compilers vectorize both.

namespace feedline::detail {
namespace {

using step = std::ptrdiff_t;

constexpr step buffer_elements = 1024;  // 4 or 8 KiB of a core's L1 cache

/// The part that is cut out of an image, in the image's own coordinates, which are below 0 in
/// padding.
struct window {
  step channels, height, width;  ///< size of the image
  step top, left;
  step to_height, to_width;
  bool flipped;
};

/// A sample's window. Elements that are adjacent both in the image and in the result are joined
/// into one long line: usually the whole image.
window widened_window(const field_conversion& conversion, std::uint32_t random_bits) noexcept {
  const image_window at = window_of(conversion, random_bits);
  window w{.channels = conversion.channels,
           .height = conversion.height,
           .width = conversion.width,
           .top = step{at.top} - step{conversion.padding},
           .left = step{at.left} - step{conversion.padding},
           .to_height = conversion.to_height,
           .to_width = conversion.to_width,
           .flipped = at.flipped};
  if (w.flipped) return w;
  if (!conversion.per_channel && conversion.channels_last && conversion.to_channels_last) {
    for (step* extent : {&w.width, &w.left, &w.to_width}) *extent *= w.channels;
    w.channels = 1;
  }
  if (w.left == 0 && w.to_width == w.width && w.top >= 0 && w.top + w.to_height <= w.height) {
    w.left = w.top * w.width;
    w.width *= w.height;
    w.to_width *= w.to_height;
    w.top = 0;
    w.height = w.to_height = 1;
  }
  return w;
}

/// @tparam Value Type of the buffer's values.
template <class Value>
class row_converter {
 public:
  row_converter(const field_conversion& conversion, std::uint32_t random_bits) noexcept
      : conversion_{conversion},
        window_{widened_window(conversion, random_bits)},
        read_{line_reader_of<Value>(conversion.from)},
        write_{line_writer_of<Value>(conversion.from, conversion.to)},
        word_bytes_{static_cast<step>(size_bytes(conversion.from))},
        to_word_bytes_{static_cast<step>(size_bytes(conversion.to))},
        planes_{conversion.channels_last ? 1 : window_.channels},
        interleaved_{window_.channels / planes_},
        first_{std::clamp<step>(-window_.left, 0, window_.to_width)},
        last_{std::clamp<step>(window_.width - window_.left, first_, window_.to_width)} {}

  void convert(const std::byte* row, std::byte* out) const noexcept {
    for (step plane = 0; plane < planes_; ++plane)
      for (step y = 0; y < window_.to_height; ++y) {
        const step from_y = window_.top + y;
        const bool in_image = from_y >= 0 && from_y < window_.height;
        const step first = in_image ? first_ : 0;
        const step last = in_image ? last_ : 0;
        pad(plane, y, 0, first, out);
        if (last > first) {
          const step from =
              (plane * window_.height + from_y) * window_.width + window_.left + first;
          convert_line(row + from * interleaved_ * word_bytes_, plane, y, first, last, out);
        }
        pad(plane, y, last, window_.to_width, out);
      }
  }

 private:
  affine of_channel(step channel) const noexcept {
    const auto at = conversion_.per_channel ? static_cast<std::size_t>(channel) : 0;
    return {conversion_.scale[at], conversion_.offset[at]};
  }

  /// Address of an element of the window; `x` is the column before the flip.
  std::byte* place_of(std::byte* out, step channel, step y, step x) const noexcept {
    const window& w = window_;
    if (w.flipped) x = w.to_width - 1 - x;
    const step at = conversion_.to_channels_last ? (y * w.to_width + x) * w.channels + channel
                                                 : (channel * w.to_height + y) * w.to_width + x;
    return out + at * to_word_bytes_;
  }

  /// Writes `count` pixels' elements of a channel from `x` on; in `in` they are in_step apart.
  void write(const Value* in, step in_step, step channel, step y, step x, step count,
             std::byte* out) const noexcept {
    if (window_.flipped) {
      in += (count - 1) * in_step;
      in_step = -in_step;
      x += count - 1;
    }
    write_(in, in_step, place_of(out, channel, y, x),
           conversion_.to_channels_last ? window_.channels : 1, count, of_channel(channel));
  }

  void pad(step plane, step y, step begin, step end, std::byte* out) const noexcept {
    constexpr Value zero{};
    if (begin == end) return;
    for (step i = 0; i < interleaved_; ++i)
      write(&zero, 0, plane * interleaved_ + i, y, begin, end - begin, out);
  }

  /// @param in The element of the plane's first channel at window position (y, begin).
  void convert_line(const std::byte* in, step plane, step y, step begin, step end,
                    std::byte* out) const noexcept {
    std::array<Value, buffer_elements> buffer;                   // NOLINT: filled before it is read
    const step group = std::min(interleaved_, buffer_elements);  // channels at a time
    const step pixels = buffer_elements / group;                 // 1 unless a group is all channels
    for (step x = begin; x < end; x += pixels) {
      const step count = std::min(pixels, end - x);
      for (step channel = 0; channel < interleaved_; channel += group) {
        const step channels = std::min(group, interleaved_ - channel);
        const step from = (x - begin) * interleaved_ + channel;
        read_(in + from * word_bytes_, count * channels, buffer.data());
        for (step i = 0; i < channels; ++i)
          write(buffer.data() + i, channels, plane * interleaved_ + channel + i, y, x, count, out);
      }
    }
  }

  const field_conversion& conversion_;
  window window_;
  line_reader<Value> read_;
  line_writer<Value> write_;
  step word_bytes_;
  step to_word_bytes_;
  step planes_;       ///< planes of the row: its channels are stored plane after plane, or
  step interleaved_;  ///< this many of them are interleaved
  step first_;        ///< first column of the window that is inside the image
  step last_;         ///< one past the last such column
};

void write_one_hot(const field_conversion& conversion, const std::byte* row,
                   std::byte* out) noexcept {
  const std::size_t word_bytes = size_bytes(conversion.to);
  std::memset(out, 0, conversion.classes * word_bytes);
  std::uint64_t hot = 0;
  line_reader_of<std::uint64_t>(conversion.from)(row, 1,
                                                 &hot);  // negative: above any class
  constexpr float one = 1.0F;
  if (hot < conversion.classes)
    line_writer_of<float>(conversion.from, conversion.to)(&one, 0, out + hot * word_bytes, 1, 1,
                                                          {});
}

void write_packed(const field_conversion& conversion, const std::byte* row, std::size_t row_bytes,
                  std::byte* out) noexcept {
  const auto load = [row](std::uint32_t place) {
    std::int32_t offset = 0;
    std::memcpy(&offset, row + place * sizeof offset, sizeof offset);
    return offset;
  };
  const auto documents = static_cast<std::uint32_t>(row_bytes / sizeof(std::int32_t) - 1);
  const std::size_t word_bytes = size_bytes(conversion.to);
  packed_elements elements{conversion.values, load, documents, 0};
  for (std::uint32_t i = 0; i < conversion.to_width; ++i) {
    const std::int32_t value = elements.at(i);
    std::memcpy(out + i * word_bytes, &value, word_bytes);  // little-endian
  }
}

}  // namespace

void transform_row(const field_conversion& conversion, const std::byte* row, std::size_t row_bytes,
                   std::uint32_t random_bits, std::byte* out) noexcept {
  switch (conversion.what) {
    case field_conversion::operation::copy:
      std::memcpy(out, row, row_bytes);
      return;
    case field_conversion::operation::convert:
      if (conversion.computes_pixels()) {
        augment_row(conversion, row, random_bits, out);
      } else if (is_whole(conversion.to)) {
        row_converter<std::uint64_t>{conversion, random_bits}.convert(row, out);
      } else {
        row_converter<float>{conversion, random_bits}.convert(row, out);
      }
      return;
    case field_conversion::operation::one_hot:
      write_one_hot(conversion, row, out);
      return;
    case field_conversion::operation::packed:
      write_packed(conversion, row, row_bytes, out);
      return;
  }
}

}  // namespace feedline::detail
