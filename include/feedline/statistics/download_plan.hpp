#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Bytes of objects of other machines (`feedline::remote`) that a loader's epochs download,
/// computed from the order of its samples and the state of the cache (`remote_options::cache`).
///
/// Counts all ranks together: with a cache, as processes of one machine that share its folder. Does
/// not count what is fetched with samples that are stored near each other (up to 128 KiB between
/// two), repeated requests, second ones, and the openings of files.
struct download_plan {
  /// False, and all else 0, if no sample is on another machine, or the order cannot be computed.
  bool is_known = false;
  std::uint64_t epoch = 0;         ///< the epoch that the loader reads now; 0 before the first
  std::uint64_t needed_bytes = 0;  ///< bytes of that epoch's samples: its downloads without a cache
  /// Downloads of that epoch with the cache as it is now, if it began now.
  std::uint64_t epoch_bytes = 0;
  std::uint64_t later_bytes = 0;  ///< downloads of the epoch after it; 0 also if there is none
  std::uint64_t cache_bytes = 0;  ///< room of the cache, memory and folder; 0: there is none
  /// A larger cache, and the downloads of each later epoch with it. It has twice the size, or holds
  /// half of the blocks if there is no cache. 0: `whole_cache` is no larger.
  std::uint64_t larger_cache = 0;
  std::uint64_t later_with_larger = 0;
  /// Room for all blocks that later epochs need again, and their downloads with it. 0: the cache
  /// has it, or no block is needed again.
  std::uint64_t whole_cache = 0;
  std::uint64_t later_with_whole = 0;

  friend bool operator==(const download_plan&, const download_plan&) = default;
};

/// One line, such as "epoch 0 downloads 147.5 GB of 147.5 GB, each later one 73.7 GB; with a
/// cache of 147.7 GB 0.0 GB". Empty if nothing is known.
[[nodiscard]] std::string to_string(const download_plan& plan);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
