#pragma once

#include "options.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace mnist {

using seconds = std::chrono::duration<double>;

/// What one epoch came to: of the batches that this run had of it, but for loss and accuracy.
struct epoch_report {
  double loss;      ///< mean, of all its training digits
  double accuracy;  ///< share of test digits recognised
  std::uint64_t batches;
  double digits;  ///< trained on, by all ranks
  seconds took;
  seconds waited;  ///< of that, for data
};

/// Prints how a training goes.
class report {
 public:
  explicit report(const trainer_options& options) : options_{options} {}

  /// One line.
  void tell(std::uint64_t epoch, const epoch_report& found);
  /// The last lines; the very last is for programs.
  void tell_result(int ranks, const std::string& device) const;

 private:
  const trainer_options& options_;
  epoch_report last_{};
  double digits_ = 0;
  seconds took_{};
  seconds waited_{};
  seconds step_{};  // mean of the fastest epoch, for the first one warms up
};

}  // namespace mnist
