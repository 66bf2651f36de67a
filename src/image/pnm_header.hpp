#pragma once

#include "image/resize/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// The header of a PPM or PGM with binary values.
struct pnm_header {
  image_extents extents;
  std::uint32_t channels = 1;
  std::uint32_t largest = 255;           ///< value of white, 1 to 65535
  std::span<const std::byte> rest = {};  ///< the file after the header
};

/// @throws image_error if the file is of another kind, or its header is damaged.
[[nodiscard]] pnm_header read_pnm_header(std::span<const std::byte> file);

}  // namespace feedline::detail
