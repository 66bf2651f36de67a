#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What reads have come across: a part of `loader_statistics`.
struct read_counts {
  std::uint64_t decoded = 0;       ///< chunks, images and the like that were decoded
  std::uint64_t cache_hits = 0;    ///< rows, field by field, that lay decoded in a cache
  std::uint64_t cache_misses = 0;  ///< rows that were looked for there, and were not there yet
};

/// Adds to the statistics of the loader that reads: for a dataset's `read` that decodes or keeps
/// what it has decoded. To be called by the thread that `read` was called on; elsewhere, and
/// outside of a loader, it does nothing. Costs a few nanoseconds: count once a run of samples.
void count_read(const read_counts& more) noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
