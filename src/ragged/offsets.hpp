#pragma once

#include <feedline/dataset/dataset.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace feedline::detail {

/// Where each sample's values begin and end: n + 1 numbers that never fall, the first 0. Immutable.
class ragged_offsets {
 public:
  /// Takes a dataset's only field; keeps the dataset if its numbers can be used where they lie.
  /// @param values How many there are: the last offset.
  /// @throws as `make_ragged_dataset`.
  ragged_offsets(dataset_ptr from, std::uint64_t values);

  [[nodiscard]] std::uint64_t samples() const noexcept { return all_.size() - 1; }
  [[nodiscard]] std::uint64_t begin(std::uint64_t sample) const noexcept { return all_[sample]; }
  [[nodiscard]] std::uint64_t length(std::uint64_t sample) const noexcept {
    return all_[sample + 1] - all_[sample];
  }

  /// The sample that has a value. @param value Less than the number of values.
  [[nodiscard]] std::uint64_t sample_of(std::uint64_t value) const noexcept {
    const auto behind = std::upper_bound(all_.begin(), all_.end(), value);
    return static_cast<std::uint64_t>(behind - all_.begin()) - 1;
  }

 private:
  std::span<const std::uint64_t> all_;
  std::shared_ptr<const void> owner_;  ///< of the numbers
};

}  // namespace feedline::detail
