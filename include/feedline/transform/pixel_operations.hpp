#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Operations on the pixels of a field, such as changes of colour, as feedline has planned them.
/// Their parameters are private to feedline, whose reference and kernels share the arithmetic: a
/// device that cannot use these says that it assembles no slots (`device_capabilities::assembles`).
struct pixel_operations {
  /// Room for the parameters of all operations.
  static constexpr std::size_t max_bytes = 768;

  bool any = false;          ///< whether there is an operation
  bool random = false;       ///< whether an operation uses the samples' random bits
  bool steps = false;        ///< whether an operation changes colours by steps, or moves pixels
  bool needs_image = false;  ///< whether a step may need all of the image before its first pixel
  bool wide = false;  ///< whether a step needs several images of a sample, or a wide neighbourhood
  std::uint32_t channels = 0;  ///< channels after the operations; 0: unchanged
  alignas(8) std::byte parameters[max_bytes] = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
