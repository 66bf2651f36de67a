#pragma once

#include <feedline/dataset/sample_random.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What one sample is read for: which sample of which epoch a loader delivers. Whatever hangs on
/// this alone is the same for any number of readers, any slot size, placement and device.
struct sample_context {
  std::uint64_t seed = 0;              ///< `loader_options::seed`
  std::optional<std::uint64_t> epoch;  ///< empty: no loader reads, and there is no epoch
  sample_index
      sample;  ///< as the loader numbers them: of the dataset that the loader was given, so
               ///< that copies within a concatenation differ
  std::optional<feedline::position> position;  ///< in the epoch's order, which all ranks share; of
                                               ///< a repeat, behind its end; empty as `epoch`

  /// Numbers for this sample in this epoch, keyed by (seed, epoch, sample) as those of the device's
  /// transforms are; without an epoch, those of epoch 0.
  /// @param stream As `sample_random`'s.
  [[nodiscard]] sample_random random(std::uint64_t stream = 0) const noexcept {
    return {seed, epoch.value_or(0), sample.value, stream};
  }
};

/// What a run of samples is read for. Borrows: it is valid during the call that it is given to.
class read_context {
 public:
  /// Outside of a loader: seed 0, no epoch, no positions.
  /// @param samples Which are read, of the dataset that is asked.
  explicit read_context(std::span<const sample_index> samples) noexcept : samples_{samples} {}

  /// In an epoch. @param first Where the first sample stands; the others stand behind it.
  read_context(std::uint64_t seed, std::uint64_t epoch, std::span<const sample_index> samples,
               position first) noexcept
      : seed_{seed}, epoch_{epoch}, samples_{samples}, first_{first} {}

  /// In an epoch. @param positions Where each sample stands.
  read_context(std::uint64_t seed, std::uint64_t epoch, std::span<const sample_index> samples,
               std::span<const position> positions) noexcept
      : seed_{seed}, epoch_{epoch}, samples_{samples}, positions_{positions} {}

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// Empty outside of a loader.
  [[nodiscard]] std::optional<std::uint64_t> epoch() const noexcept { return epoch_; }
  /// The loader's own numbers of the run's samples: a dataset within another is asked for samples
  /// under other numbers, in the same order.
  [[nodiscard]] std::span<const sample_index> samples() const noexcept { return samples_; }

  /// Of one sample. @param place In the run; less than `samples().size()`.
  [[nodiscard]] sample_context operator[](std::size_t place) const noexcept {
    sample_context one{seed_, epoch_, samples_[place], std::nullopt};
    if (epoch_)
      one.position = positions_.empty() ? position{first_.value + place} : positions_[place];
    return one;
  }

  /// Of some of the run's samples, where only these are asked of another dataset.
  [[nodiscard]] read_context part(std::size_t first, std::size_t count) const noexcept {
    read_context some{*this};
    some.samples_ = samples_.subspan(first, count);
    some.first_ = position{first_.value + first};
    if (!positions_.empty()) some.positions_ = positions_.subspan(first, count);
    return some;
  }

 private:
  std::uint64_t seed_ = 0;
  std::optional<std::uint64_t> epoch_;
  std::span<const sample_index> samples_;
  position first_;
  std::span<const position> positions_;  ///< empty: they follow each other from `first_` on
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
