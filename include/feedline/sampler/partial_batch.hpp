#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Handling of the last batch of an epoch if the samples do not fill it; with a `shard`, of the
/// last global batch. All ranks get the same number of batches, and batch g has the same size on
/// all of them. If that needs more samples, the epoch's first ones are repeated (`batch::repeats`).
enum class partial_batch : std::uint8_t {
  /// Delivered with fewer samples. The ranks get equal parts, in order. If the samples cannot be
  /// divided equally, less than `world` samples are repeated at the end.
  keep,
  drop,   ///< not delivered
  error,  ///< usage_error at construction
  fill,   ///< filled up to the batch size with repeats
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
