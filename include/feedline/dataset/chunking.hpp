#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How a dataset's samples are stored: in chunks of consecutive samples that must be read as one.
///
/// Reading one sample of a chunk costs as much as reading all of them, unless the dataset still has
/// the chunk from before. So an order that stays within a window of few chunks is fast, and one
/// that jumps over all of them reads each chunk as often as it has samples.
struct chunking {
  std::uint64_t samples =
      1;  ///< of a chunk, counted from sample 0; the last may be shorter. 1: each
          ///< sample stands for itself
  std::size_t bytes =
      0;  ///< of memory that a chunk takes once read, all fields; 0 if `samples` is 1
  std::uint64_t kept = 0;  ///< chunks that the dataset keeps in memory at once, at most

  friend bool operator==(const chunking&, const chunking&) = default;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
