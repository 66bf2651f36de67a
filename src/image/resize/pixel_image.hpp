#pragma once

#include "image/resize/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {

/// The values of a pixel.
struct pixel_format {
  std::uint32_t channels = 3;     ///< 3: red, green, blue; 1: grey, or a class
  std::uint32_t value_bytes = 1;  ///< 2: in this machine's byte order

  [[nodiscard]] constexpr std::size_t pixel_bytes() const noexcept {
    return std::size_t{channels} * value_bytes;
  }
  friend bool operator==(const pixel_format&, const pixel_format&) = default;
};

/// Pixels, row after row without gaps, in memory that grows to the largest image and is reused. The
/// memory of a huge image is freed for the next one that needs much less.
class pixel_image {
 public:
  /// Makes room; the previous contents are lost. @param room Bytes for each pixel that a decoder
  /// needs while it works, if more than those of the format.
  void resize(image_extents extents, pixel_format format = {}, std::size_t room = 0) {
    const std::size_t each = room > format.pixel_bytes() ? room : format.pixel_bytes();
    const std::size_t bytes = static_cast<std::size_t>(extents.pixels()) * each;
    const bool is_huge = bytes_.size() > max_kept_bytes && bytes < bytes_.size() / 4;
    if (bytes > bytes_.size() || is_huge) {
      bytes_ =
          std::vector<std::uint8_t>{};  // freed first, so that both do not exist at once; `= {}`
                                        // would keep the memory
      bytes_.resize(bytes);
    }
    extents_ = extents;
    format_ = format;
  }

  /// Memory that an image keeps after it was used for a larger one.
  static constexpr std::size_t max_kept_bytes = std::size_t{64} << 20;

  [[nodiscard]] std::size_t held_bytes() const noexcept { return bytes_.capacity(); }
  [[nodiscard]] image_extents extents() const noexcept { return extents_; }
  [[nodiscard]] pixel_format format() const noexcept { return format_; }
  [[nodiscard]] std::size_t row_bytes() const noexcept {
    return format_.pixel_bytes() * extents_.width;
  }
  [[nodiscard]] std::uint8_t* data() noexcept { return bytes_.data(); }
  [[nodiscard]] const std::uint8_t* data() const noexcept { return bytes_.data(); }

  /// Converts the pixels to another format, as far as they do not have it: grey is luma, 0.299 red
  /// + 0.587 green + 0.114 blue, rounded; grey is repeated in three channels; 255 becomes 65,535.
  /// @param wanted No fewer bytes a value than now.
  void convert(pixel_format wanted);

 private:
  std::vector<std::uint8_t> bytes_;
  image_extents extents_;
  pixel_format format_;
};

}  // namespace feedline::detail
