#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "support/images/image_bytes.hpp"

#include <cstdint>
#include <vector>

namespace feedline::test {

/// A file or a finished row as it arrives.
struct arriving_image {
  byte_vector stored;
  std::uint16_t height = 0;
  std::uint16_t width = 0;
  std::uint32_t skipped = 0;
  source_window window = {};
  image_in_row in_row = {};
  image_format format = image_format::jpeg;
  std::uint8_t pixel_bits = 0;
  std::uint8_t orientation = 1;
};

struct decoded_images {
  std::vector<byte_vector> rows;
  std::vector<bool> good;
};

/// Decodes images to every second slot, twice; the slots between must stay unchanged.
[[nodiscard]] decoded_images decode_on_gpu(const image_row& row,
                                           const std::vector<arriving_image>& images);

/// Decodes with the CPU's decoder, at full size. Bytes after a smaller row are those that
/// `decode_on_gpu` has there.
[[nodiscard]] byte_vector decode_on_cpu(const image_row& row, const byte_vector& file,
                                        const source_window& window = {},
                                        const image_in_row& in_row = {},
                                        std::uint8_t orientation = 1);

}  // namespace feedline::test
