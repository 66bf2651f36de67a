#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace feedline::detail {

struct image_extents {
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  [[nodiscard]] std::uint64_t pixels() const noexcept { return std::uint64_t{height} * width; }
  friend bool operator==(const image_extents&, const image_extents&) = default;
};

/// Pixels of three bytes, row after row with no gaps, in memory that grows to the largest image and stays.
class rgb_image {
 public:
  /// Makes room; what was in it is lost. @param pixel_bytes More than 3 while a decoder needs them.
  void resize(image_extents extents, std::size_t pixel_bytes = 3) {
    const std::size_t bytes = static_cast<std::size_t>(extents.pixels()) * pixel_bytes;
    if (bytes > capacity_) {
      bytes_.reset();
      capacity_ = 0;
      bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(
          bytes);  // NOLINT(modernize-avoid-c-arrays)
      capacity_ = bytes;
    }
    extents_ = extents;
  }

  [[nodiscard]] image_extents extents() const noexcept { return extents_; }
  [[nodiscard]] std::size_t row_bytes() const noexcept { return std::size_t{3} * extents_.width; }
  [[nodiscard]] std::uint8_t* data() noexcept { return bytes_.get(); }
  [[nodiscard]] const std::uint8_t* data() const noexcept { return bytes_.get(); }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t capacity_ = 0;
  image_extents extents_;
};

}  // namespace feedline::detail
