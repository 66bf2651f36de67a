#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How the shape of an image field is to be read. A shape of two extents is one channel, {height,
/// width}, in either.
enum class image_layout : std::uint8_t {
  hwc,  ///< {height, width, channels}
  chw,  ///< {channels, height, width}
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
