#pragma once

#include "image/reader.hpp"
#include "image/stored_extents.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

// Properties of every reader of images, for any bytes.

namespace feedline::test {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

/// Reads a file twice, if it begins as the reader's format. It is an image, whose header says its
/// size and whose pixels do not depend on the memory they are written to; or an `image_error` says
/// what is wrong.
/// @param begins_well Returns whether a file begins as the format.
template <class Begins>
void check_image_reader(detail::image_reader& reader, const Begins& begins_well,
                        const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t max_pixels = 1U << 12U;
  const std::vector<std::uint8_t> file{data, data + size};  // so that reads past its end are seen
  const std::span<const std::byte> bytes = std::as_bytes(std::span{file});
  if (!begins_well(bytes)) return;
  std::optional<detail::image_extents> said;
  const auto cut = [&](detail::image_extents extents) {
    said = extents;
    if (extents.pixels() == 0 || extents.pixels() > max_pixels)
      throw detail::image_error{"too small or too large"};
    return detail::resample_window{};
  };
  std::vector<std::uint8_t> first;
  for (const std::uint8_t filling : {std::uint8_t{0}, std::uint8_t{255}}) {
    detail::pixel_image image;
    image.resize({64, 64}, {.channels = 4, .value_bytes = 2});
    std::memset(image.data(), filling, image.row_bytes() * 64);
    try {
      (void)reader.read(bytes, cut, image);
    } catch (const detail::image_error& error) {
      require(error.what()[0] != 0, "an error says what is wrong");
      require(first.empty(), "a file that was read can be read again");
      (void)detail::stored_extents(bytes, true);
      return;
    }
    require(said && image.extents() == *said, "an image has the size that was announced");
    // Libraries read some damaged files whose header says nothing.
    const auto header = detail::stored_extents(bytes, false);
    require(!header || *header == *said, "a header says the image's size");
    const std::vector<std::uint8_t> pixels{
        image.data(), image.data() + image.row_bytes() * image.extents().height};
    if (first.empty())
      first = pixels;
    else
      require(first == pixels, "pixels do not depend on the memory before");
  }
}

}  // namespace feedline::test
