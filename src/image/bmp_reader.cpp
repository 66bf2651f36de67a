#include "detail/byte_order.hpp"
#include "image/reader.hpp"

#include <algorithm>
#include <cstdlib>

namespace feedline::detail {
namespace {

/// BMP without compression: 24 or 32 bits a pixel, or indices of 8 bits into a palette.
class bmp_reader final : public image_reader {
 public:
  resample_window read(std::span<const std::byte> file, const image_cut& cut,
                       pixel_image& out) override {
    constexpr std::size_t file_header = 14;
    constexpr std::size_t least_header = 40;
    const auto number = [&](std::size_t at, std::size_t bytes) {
      if (at + bytes > file.size()) throw image_error{"the file ends early"};
      return static_cast<std::uint32_t>(little_endian(file.subspan(at, bytes)));
    };
    const std::uint32_t header = number(file_header, 4);
    if (header < least_header) throw image_error{"it is a BMP of OS/2, which is not read"};
    const auto height = static_cast<std::int32_t>(number(22, 4));
    const image_extents extents{static_cast<std::uint32_t>(std::abs(std::int64_t{height})),
                                number(18, 4)};
    const std::uint32_t bits = number(28, 2);
    const std::uint32_t compression = number(30, 4);
    constexpr std::uint32_t masks = 3;
    const bool is_plain = compression == 0 && (bits == 8 || bits == 24 || bits == 32);
    const bool has_usual_masks = compression == masks && bits == 32 && number(54, 4) == 0xFF0000 &&
                                 number(58, 4) == 0xFF00 && number(62, 4) == 0xFF;
    if (!is_plain && !has_usual_masks)
      throw image_error{"it is a BMP of " + std::to_string(bits) + " bits and compression " +
                        std::to_string(compression) +
                        "; those of 8, 24 and 32 bits without compression are read"};
    const resample_window window = cut(extents);
    const std::uint64_t row_bytes = (std::uint64_t{extents.width} * bits + 31) / 32 * 4;
    const std::uint64_t begin = number(10, 4);
    if (begin + row_bytes * extents.height > file.size()) throw image_error{"the file ends early"};
    const std::size_t palette = file_header + header;
    const std::uint32_t said = number(46, 4);
    const std::uint32_t colors = bits == 8 ? (said == 0 ? 256 : std::min(said, 256U)) : 0;
    if (palette + std::size_t{4} * colors > file.size()) throw image_error{"the file ends early"};
    out.resize(extents);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
    std::uint8_t* to = out.data();
    for (std::uint32_t y = 0; y < extents.height; ++y) {
      const std::uint32_t line = height < 0 ? y : extents.height - 1 - y;  // usually from below
      const std::uint8_t* from = bytes + begin + line * row_bytes;
      for (std::uint32_t x = 0; x < extents.width; ++x, from += bits / 8, to += 3) {
        if (bits == 8 && *from >= colors) throw image_error{"an index is not in its palette"};
        const std::uint8_t* const blue =
            bits == 8 ? bytes + palette + std::size_t{4} * *from : from;
        std::reverse_copy(blue, blue + 3, to);
      }
    }
    return window;
  }
};

}  // namespace

std::unique_ptr<image_reader> make_bmp_reader() {
  return std::make_unique<bmp_reader>();
}

}  // namespace feedline::detail
