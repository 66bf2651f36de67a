#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What becomes of the last batch of an epoch when the samples do not fill it; with a `shard`, of
/// the last global batch. All ranks get equally many batches, and equally many samples in each:
/// where samples are missing for that, the epoch's first ones come again (`batch::repeats`).
enum class partial_batch : std::uint8_t {
  keep,   ///< delivered with fewer samples; its samples are dealt to the ranks in order, in equal
          ///< parts, of which the last may end in repeats, less than `world` in all
  drop,   ///< not delivered
  error,  ///< usage_error at construction
  fill,   ///< filled up to the batch size with repeats
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
