#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Counters that reads increase: a part of `loader_statistics`.
struct read_counts {
  std::uint64_t decoded = 0;        ///< decoded chunks, images and the like
  std::uint64_t cache_hits = 0;     ///< rows, counted for each field, that were decoded in a cache
  std::uint64_t cache_misses = 0;   ///< rows that were not in the cache yet
  std::uint64_t pixels = 0;         ///< pixels of images that are padded, with their padding
  std::uint64_t padded_pixels = 0;  ///< those of them that are padding
};

/// Adds counts to the statistics of the loader that reads. Call it once in the `do_read` of a
/// dataset that decodes or caches, on the thread that called `do_read`. On other threads and
/// outside of a loader it does nothing. Takes a few nanoseconds.
void count_read(const read_counts& more) noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
