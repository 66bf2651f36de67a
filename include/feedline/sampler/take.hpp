#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/random_split.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Start of an epoch of `take`.
enum class take_from : std::uint8_t {
  /// Continues after the epoch before, so that every sample comes at some time.
  last_end,
  epoch_begin,  ///< the first positions of the sampler's epoch of the same number
};

/// Shorter epochs: a fixed number of positions, or a share of another sampler's epoch.
///
///     feedline::take{feedline::shuffle{.seed = 42}, 10'000}   // 10,000 positions an epoch
///     feedline::take{feedline::shuffle{.seed = 42}, 0.1}      // a tenth of each pass
///
/// By default the sampler's epochs form one sequence, and each epoch of `take` continues where the
/// one before ended. With m positions, epoch e has the sequence's positions e × m, e × m + 1, … An
/// epoch of `take` may then be longer than the sampler's. With `take_from::epoch_begin`, epoch e is
/// the beginning of the sampler's epoch e. Over an `explicit_order` that begins with easy samples
/// this is a curriculum. Over a `shuffle` it is a random part of the dataset in each epoch.
///
/// If the sampler works in batches (`bucket_by_length`), take a whole number of batches. If epochs
/// continue, the sampler's own epochs must also be whole batches; otherwise batches are cut
/// elsewhere.
///
/// A draw is O(1), with no memory besides the sampler's. Pure if the sampler is.
class take {
 public:
  /// @param size A floating-point number is a share of the sampler's epoch, above 0 and up to 1,
  ///             rounded to the nearest number of positions; an integer counts positions.
  /// @throws usage_error if the size is negative, 0, or a share above 1.
  take(sampler of, split_size size, take_from from = take_from::last_end);

  /// Positions in an epoch.
  /// @throws usage_error if a share of the sampler's epoch rounds to 0 positions, if the sampler
  /// has no position, or, with `epoch_begin`, if the sampler has fewer positions than `size`.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// The order for a dataset; a loader calls this.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const;
  /// The identity of the sampler's order, if it has one.
  [[nodiscard]] std::optional<std::uint64_t> identity() const { return of_.identity(); }

 private:
  sampler of_;
  split_size size_;
  take_from from_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
