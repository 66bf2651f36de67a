#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/random_split.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstdint>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What an epoch of `take` begins with.
enum class take_from : std::uint8_t {
  last_end,     ///< what follows the epoch before, so that in time every sample comes
  epoch_begin,  ///< the first positions of the sampler's epoch of the same number
};

/// Epochs of fewer positions: a fixed number, or a share of another sampler's epoch.
///
///     feedline::take{feedline::shuffle{.seed = 42}, 10'000}   // 10,000 positions an epoch
///     feedline::take{feedline::shuffle{.seed = 42}, 0.1}      // a tenth of each pass
///
/// By default the sampler's epochs stand one behind the other, and each epoch of `take` continues
/// where the one before ended: m positions of epoch e are the sampler's e × m, e × m + 1, … An
/// epoch of `take` may then be longer than the sampler's. With `take_from::epoch_begin`, epoch e is
/// the beginning of the sampler's epoch e. That is a curriculum over an `explicit_order` that
/// begins with what is easy, and a random part of the dataset in each epoch over a `shuffle`.
///
/// Of a sampler that deals batches (`bucket_by_length`), take a whole number of batches; where
/// epochs continue, its own epochs must be whole batches as well, or batches are cut elsewhere.
///
/// O(1), in no memory but the sampler's. Pure, as far as the sampler is.
class take {
 public:
  /// @param size A floating-point number is a share of the sampler's epoch, above 0 and up to 1,
  ///             rounded to the nearest number of positions; an integer counts positions.
  /// @throws usage_error if the size is negative, 0, or a share above 1.
  take(sampler of, split_size size, take_from from = take_from::last_end);

  /// Positions in an epoch.
  /// @throws usage_error if a share of the sampler's epoch rounds to no position, the sampler has
  ///         no position, or, with `epoch_begin`, fewer than are to be taken.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error as `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// The order for a dataset; a loader asks for it.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const;

 private:
  sampler of_;
  split_size size_;
  take_from from_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
