#pragma once

#include "compute.hpp"
#include "digit_sets.hpp"
#include "options.hpp"

#include <cstddef>
#include <cstdint>

namespace mnist {

/// Digits in a batch of the test set, at most.
inline constexpr std::size_t test_batch = 500;

/// What a run comes to.
struct training_result {
  double accuracy = 0.0;  ///< on the test set, after the last epoch
  double samples_per_second = 0.0;
  double wait_fraction = 0.0;  ///< of the time spent training, without the tests
  std::uint64_t batches_checksum = 0;
};

/// Trains epoch after epoch, and prints a line for each.
/// @throws feedline::error from the loaders.
[[nodiscard]] training_result train(const trainer_options& options, const digit_sets& digits,
                                    compute& on);

}  // namespace mnist
