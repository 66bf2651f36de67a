#pragma once

#include <feedline/dataset/image_size.hpp>
#include <feedline/dataset/sample_random.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The sample and epoch for which a loader reads. A value computed only from this is the same for
/// any number of readers, any slot size, placement and device.
struct sample_context {
  std::uint64_t seed = 0;  ///< `loader_options::seed`
  /// Empty: the read is not by a loader, so there is no epoch.
  std::optional<std::uint64_t> epoch = {};
  /// Index of the sample in the loader's dataset. So the same sample of a part that is concatenated
  /// twice has two numbers.
  sample_index sample = {};
  /// Position in the epoch's order, which all ranks share. A repeat's position is past the epoch's
  /// end. Empty if `epoch` is.
  std::optional<feedline::position> position = {};
  /// Height and width of images in the sample's batch, where they differ from batch to batch
  /// (`dataset::sizes`). Empty otherwise, and outside of a loader, where they are the largest.
  std::optional<image_size> size = {};

  /// Random numbers for this sample in this epoch, keyed by (seed, epoch, sample) like those of the
  /// device's transforms. Without an epoch they are those of epoch 0.
  /// @param stream Same as in `sample_random`.
  [[nodiscard]] sample_random random(std::uint64_t stream = 0) const noexcept {
    return {seed, epoch.value_or(0), sample.value, stream};
  }
};

/// Context of a read of several samples. It borrows its arrays, so it is valid only during the
/// call that it is passed to.
class read_context {
 public:
  /// A read outside of a loader: seed 0, no epoch, no positions.
  /// @param samples Indices of the samples in the dataset that is read.
  explicit read_context(std::span<const sample_index> samples) noexcept : samples_{samples} {}

  /// A read in an epoch. @param first Position of the first sample; the others follow it.
  read_context(std::uint64_t seed, std::uint64_t epoch, std::span<const sample_index> samples,
               position first) noexcept
      : seed_{seed}, epoch_{epoch}, samples_{samples}, first_{first} {}

  /// A read in an epoch. @param positions Position of each sample.
  read_context(std::uint64_t seed, std::uint64_t epoch, std::span<const sample_index> samples,
               std::span<const position> positions) noexcept
      : seed_{seed}, epoch_{epoch}, samples_{samples}, positions_{positions} {}

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// Empty outside of a loader.
  [[nodiscard]] std::optional<std::uint64_t> epoch() const noexcept { return epoch_; }
  /// Indices of the samples in the loader's dataset, in the order of the read. A dataset that is a
  /// part of the loader's has other indices for the same samples.
  [[nodiscard]] std::span<const sample_index> samples() const noexcept { return samples_; }

  /// Same as `sample_context::size`; all samples of a read have the same.
  [[nodiscard]] std::optional<image_size> size() const noexcept { return size_; }
  /// The same context with another size.
  [[nodiscard]] read_context with(std::optional<image_size> size) const noexcept {
    read_context other{*this};
    other.size_ = size;
    return other;
  }

  /// Context of one sample. @param place Index of the sample in this read; less than
  /// `samples().size()`.
  [[nodiscard]] sample_context operator[](std::size_t place) const noexcept {
    sample_context one{seed_, epoch_, samples_[place], std::nullopt, size_};
    if (epoch_)
      one.position = positions_.empty() ? position{first_.value + place} : positions_[place];
    return one;
  }

  /// Context of some of the samples, for a call to another dataset with only these.
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
  std::span<const position> positions_;  ///< empty: consecutive from `first_` on
  std::optional<image_size> size_ = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
