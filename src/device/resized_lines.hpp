#pragma once

#include <feedline/backend/assembly.hpp>

#include "device/element_lines.hpp"
#include "device/resize_taps.hpp"
#include "device/source_window.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Pixels of a line that are made together.
inline constexpr std::uint32_t strip_pixels = 64;

/// Lines of a resized image, `strip_pixels` of one channel at a time.
///
/// If lines of the result are requested from top to bottom, a source line that several of them need
/// is resized to the strip's columns only once: the last 32 are cached.
class resized_lines {
 public:
  resized_lines(const field_conversion& conversion, const image_part& window,
                const std::byte* row) noexcept;

  /// Makes the pixels from x on of line y. @param line At most `strip_pixels`.
  void make(std::uint32_t channel, std::uint32_t y, std::uint32_t x,
            std::span<float> line) noexcept;

 private:
  using strip = std::array<float, strip_pixels>;
  static constexpr std::uint32_t kept_lines = 32;

  void move_to(std::uint32_t channel, std::uint32_t x, std::size_t pixels) noexcept;
  /// A line of the source, resized to the strip's columns.
  const strip& columns_of(std::uint32_t line) noexcept;

  const field_conversion& conversion_;
  image_part window_;
  const std::byte* row_;
  line_reader<float> read_;
  std::size_t pixel_bytes_;

  // The strip of the last request.
  std::uint32_t channel_ = 0;
  std::uint32_t x_ = 0;
  std::size_t pixels_ = 0;  ///< 0: there was none
  std::array<resize_taps, strip_pixels> columns_{};
  std::array<std::uint32_t, kept_lines> kept_;
  std::array<strip, kept_lines> lines_;
};

}  // namespace feedline::detail
