#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Handling of the last batch of an epoch if the samples do not fill it; with a `shard`, of the
/// last global batch. All ranks get equally many batches, with equally many samples in each. If
/// samples are missing for that, the epoch's first ones are repeated (`batch::repeats`).
enum class partial_batch : std::uint8_t {
  /// Delivered with fewer samples. The samples are distributed to the ranks in order, in equal
  /// parts. The last part may end in repeats, in all less than `world`.
  keep,
  drop,   ///< not delivered
  error,  ///< usage_error at construction
  fill,   ///< filled up to the batch size with repeats
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
