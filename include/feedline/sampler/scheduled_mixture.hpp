#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {
struct mixture_tables;
}

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The weights that a schedule has at a moment of training.
struct mixture_point {
  /// The moment, counted from the beginning of epoch 0 in the unit of the schedule.
  double at = 0;
  std::vector<double> weights = {};  ///< one for each part, as in `mixture`
};

/// Unit of the moments of a schedule.
enum class mixture_unit : std::uint8_t {
  positions,  ///< samples of all ranks together
  epochs,     ///< epochs; 0.5 is the middle of epoch 0
};

/// How weights change between two points.
enum class mixture_change : std::uint8_t {
  linear,  ///< the same amount at each position
  steps,   ///< not at all, until the next point
};

/// Options for `scheduled_mixture`.
struct scheduled_mixture_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Positions in an epoch. 0: total number of samples of all parts.
  std::uint64_t epoch_size = 0;
  mixture_unit unit = mixture_unit::positions;     ///< unit of `mixture_point::at`
  mixture_change change = mixture_change::linear;  ///< change of weights between points
};

/// A `mixture` whose weights follow a schedule. Use it with the `concatenate` of its datasets:
///
///     // From web pages alone to half books within a million samples; then half books.
///     feedline::scheduled_mixture order{
///         {web, books}, {{0, {1, 0}}, {1'000'000, {0.5, 0.5}}}, {.seed = 42}};
///
/// The weights are a pure function of the position, so a loader resumes anywhere, in a world of any
/// size, without a history. The last point's weights hold from there on. Weights are proportions:
/// {2, 2} are {0.5, 0.5}, also for the points that a linear change connects.
///
/// Counts are exact to rounding. Between two points each part has the integral of its proportion,
/// rounded; what rounding takes or gives is balanced between the next points, as far as weights
/// above 0 allow. After the last point, each stretch of the length of an epoch has the counts that
/// `mixture` gives, and their rounding adds up. Take any position up to there whose distance from a
/// point or an epoch's beginning is a multiple of 64: before it, the number of samples of each part
/// differs from the integral by less than 2 ⌈log2 parts⌉ + 2 where weights change linearly, else by
/// less than ⌈log2 parts⌉ + 1. A part whose weight is 0 between two points is not drawn there.
///
/// The samples of a part come as those of `mixture`: in random order, none again before all
/// others of its part have come, from one epoch to the next.
///
/// A linear change is a blend of the two points' proportions: ⌊i² / 2n⌋ of the first i of n
/// positions have those of the end, and the others have those of the beginning.
///
/// The order is computed from at most 24 bytes a part and point. A draw is O(log points + log
/// parts). The order depends on (seed, epoch, epoch size, sizes, points, unit, change) alone, is
/// the same on every platform, and is kept across versions. States contain a digest of all of
/// these, so that `loader::seek` refuses the state of another schedule. Copies share one table.
class scheduled_mixture {
 public:
  /// @param sizes Number of samples of each part, in the order of the concatenation.
  /// @param points In ascending order, the first at 0.
  /// @throws usage_error naming the point, if there is none, they do not ascend from 0, one is not
  /// a whole position, is beyond 2^53 positions or has unsuitable weights (see `mixture`), or if a
  /// part with a weight is empty or so light that it never gets a position.
  scheduled_mixture(const std::vector<std::uint64_t>& sizes,
                    const std::vector<mixture_point>& points,
                    const scheduled_mixture_options& options = {});

  /// @throws usage_error as above, or if a part is null.
  scheduled_mixture(const std::vector<dataset_ptr>& parts, const std::vector<mixture_point>& points,
                    const scheduled_mixture_options& options = {});

  /// Positions in an epoch.
  /// @throws usage_error if the dataset's number of samples differs from that of all parts
  /// together.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// Number of positions in an epoch for each part.
  [[nodiscard]] std::vector<std::uint64_t> counts(std::uint64_t epoch) const;

  /// The proportions at a position of an epoch, whose sum is 1.
  [[nodiscard]] std::vector<double> weights(std::uint64_t epoch, position at) const;

  /// A digest of all that the order depends on.
  [[nodiscard]] std::uint64_t identity() const noexcept;

 private:
  std::shared_ptr<const detail::mixture_tables> tables_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
