#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Kind of the device whose memory holds batches.
enum class device_kind : std::uint8_t {
  host,
  cuda,
  other,  ///< a device type that DLPack has no code for
};

/// A device as other libraries identify it.
struct device_id {
  device_kind kind = device_kind::other;
  int ordinal = 0;  ///< CUDA's number of the GPU

  friend bool operator==(const device_id&, const device_id&) = default;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
