#pragma once

#include <feedline/error.hpp>
#include <feedline/ragged/dataset.hpp>

#include "detail/sample_range.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

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
    return part_at(all_, value) - 1;  // the first number, 0, ends no sample
  }

 private:
  std::span<const std::uint64_t> all_;
  std::shared_ptr<const void> owner_;  ///< owner of the numbers
};

/// Refuses a run of elements that a ragged dataset has not, so that no caller's mistake can become
/// a read out of bounds.
/// @param name Name of its field. @throws dataset_error
inline void require_elements(const ragged_dataset& of, const element_run& run,
                             std::size_t element_bytes, const std::string& name) {
  const std::uint64_t sample = run.sample.value;
  if (sample >= of.size()) [[unlikely]]
    throw dataset_error{{.path = {}, .field = name, .sample = sample},
                        "there is no such sample: the dataset has " + std::to_string(of.size())};
  const std::uint64_t length = of.length(run.sample);
  const std::uint64_t count = run.out.size() / element_bytes;
  if (run.first > length || count > length - run.first || run.out.size() % element_bytes != 0)
      [[unlikely]]
    throw dataset_error{{.path = {}, .field = name, .sample = sample},
                        std::to_string(run.out.size()) + " bytes from element " +
                            std::to_string(run.first) + " on are asked for, but it has " +
                            std::to_string(length) + " elements of " +
                            std::to_string(element_bytes) + " bytes"};
}

}  // namespace feedline::detail
