#include "image/stored_extents.hpp"

#include "image/orientation.hpp"
#include "io/file_magic.hpp"

#include <cstdint>

namespace feedline::detail {
namespace {

class header_bytes {
 public:
  explicit header_bytes(std::span<const std::byte> bytes) noexcept : bytes_{bytes} {}

  [[nodiscard]] bool has(std::size_t at, std::size_t count) const noexcept {
    return at <= bytes_.size() && bytes_.size() - at >= count;
  }
  [[nodiscard]] std::uint32_t get(std::size_t at, std::size_t count) const noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + count; ++i)
      value = value << 8U | std::to_integer<std::uint32_t>(bytes_[i]);
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
};

/// Goes through a JPEG's segments to the one that begins its frame.
std::optional<image_extents> extents_of_jpeg(const header_bytes& file) noexcept {
  std::size_t at = 2;
  while (file.has(at, 9)) {
    const std::uint32_t marker = file.get(at, 2);
    const bool has_length =
        marker > 0xFF01 && marker < 0xFFFF && (marker < 0xFFD0 || marker > 0xFFD9);
    if (!has_length) {  // a stray or filling byte
      ++at;
      continue;
    }
    const bool is_frame = marker >= 0xFFC0 && marker <= 0xFFCF && marker != 0xFFC4 &&
                          marker != 0xFFC8 && marker != 0xFFCC;
    if (is_frame) return image_extents{file.get(at + 5, 2), file.get(at + 7, 2)};
    at += 2 + file.get(at + 2, 2);
  }
  return std::nullopt;
}

}  // namespace

std::optional<image_extents> stored_extents(std::span<const std::byte> file,
                                            bool follows_orientation) noexcept {
  std::optional<image_extents> extents;
  const header_bytes bytes{file};
  if (is_jpeg(file)) extents = extents_of_jpeg(bytes);
  if (is_png(file) && bytes.has(16, 8)) extents = {bytes.get(20, 4), bytes.get(16, 4)};
  if (!extents || extents->pixels() == 0) return std::nullopt;
  return follows_orientation ? orientation::of(file).turned(*extents) : extents;
}

}  // namespace feedline::detail
