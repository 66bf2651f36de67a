#pragma once

#include "programs/convert/conversion.hpp"

#include <chrono>
#include <cstdint>

namespace convert {

/// A line on the terminal that shows how far a conversion is. Where standard output is no terminal it
/// prints nothing, so that logs hold whole lines only.
class progress_line {
 public:
  progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();

  /// Draws, but no more than ten times a second.
  void show(step now, std::uint64_t done, std::uint64_t samples);
  void erase();

 private:
  using clock = std::chrono::steady_clock;

  bool on_terminal_;
  step step_ = step::checking;
  std::uint64_t begun_at_ = 0;  ///< samples, of the step
  clock::time_point begun_ = clock::now();
  clock::time_point drawn_{};
};

}  // namespace convert
