#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string_view>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Where the rows that batches are made of come from. Order and bytes are the same for all.
///
/// A device that reads staging memory in place (the host) has its rows beside it already: there
/// every placement is `stream`.
enum class placement : std::uint8_t {
  automatic,  ///< `resident` if the whole dataset fits `memory_limits::cache`,
              ///< `cached` if a part does, `stream` if there is no such limit
  stream,     ///< from the dataset, through staging memory, each time
  gather,     ///< out of the dataset's own memory, pinned, fetched by the device: no reader
              ///< thread; for datasets that lie in memory (`dataset::rows`)
  resident,   ///< out of device memory, where all rows stay from their first pass on
  cached,     ///< out of device memory as far as a limit goes, the rest streamed; each slot is
              ///< assembled from both
};

/// "automatic", "stream", "gather", "resident", "cached".
[[nodiscard]] std::string_view to_string(placement placement) noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
