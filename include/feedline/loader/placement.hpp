#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string_view>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Source of the rows that batches are made of. Order and bytes are the same for all placements.
///
/// A device that reads staging memory directly (the host) always uses `stream`, because its rows
/// are already in its memory.
enum class placement : std::uint8_t {
  /// `resident` if the whole dataset fits in `memory_limits::cache`, `cached` if
  /// a part of it fits, `stream` if there is no such limit.
  automatic,
  stream,  ///< rows are read from the dataset each time, through staging memory
  /// The device fetches rows from the dataset's own memory, which is pinned, without reader
  /// threads. For datasets in memory (`dataset::rows`).
  gather,
  resident,  ///< rows are in device memory, where all stay after their first pass
  /// Rows are in device memory up to a limit, and the rest is streamed. Each slot is assembled from
  /// both.
  cached,
};

/// "automatic", "stream", "gather", "resident", "cached".
[[nodiscard]] std::string_view to_string(placement placement) noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
