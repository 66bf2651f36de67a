#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Whose memory batches lie in.
enum class device_kind : std::uint8_t {
  host,
  cuda,
  other,  ///< what libraries that exchange tensors have no word for
};

/// A device as other libraries know it.
struct device_id {
  device_kind kind = device_kind::other;
  int ordinal = 0;  ///< of a GPU, as CUDA counts

  friend bool operator==(const device_id&, const device_id&) = default;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
