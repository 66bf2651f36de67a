#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Order of the dimensions in an image field's shape. A shape of two dimensions is one channel,
/// {height, width}, in either layout.
enum class image_layout : std::uint8_t {
  hwc,  ///< {height, width, channels}
  chw,  ///< {channels, height, width}
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
