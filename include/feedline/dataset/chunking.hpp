#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Storage of a dataset's samples in chunks of consecutive samples, each of which must be read as a
/// whole.
///
/// Reading one sample of a chunk costs as much as reading all of them, unless the dataset still has
/// the chunk in memory. So an order that stays within a window of few chunks is fast. An order that
/// jumps over all of them reads each chunk as often as it has samples.
struct chunking {
  /// Samples in a chunk, counted from sample 0; the last chunk may be shorter. 1: the dataset is
  /// not chunked.
  std::uint64_t samples = 1;
  /// Memory that a decoded chunk takes, all fields; 0 if `samples` is 1.
  std::size_t bytes = 0;
  std::uint64_t kept = 0;  ///< maximum number of chunks that the dataset caches

  friend bool operator==(const chunking&, const chunking&) = default;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
