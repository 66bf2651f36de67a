#pragma once

#include "detail/arithmetic.hpp"
#include "staging/slot_plan.hpp"

#include <algorithm>
#include <cstdint>

namespace feedline::detail {

/// A run of a slot's samples, counted from the slot's first.
struct sample_run {
  std::uint64_t begin;
  std::uint64_t end;
};

/// How a slot is cut: into requests, each the work of one reader, and these into runs, each one
/// read of the dataset. A request is as many whole batches as fit the size asked for, or an equal
/// part of one; a run is the part of a request that lies in one batch.
class request_layout {
 public:
  /// @param batch_size   At least 1.
  /// @param most_samples A request's, at least 1.
  constexpr request_layout(std::uint64_t batch_size, std::uint64_t max_samples) noexcept
      : batch_size_{batch_size},
        runs_per_batch_{max_samples >= batch_size ? 1 : divide_up(batch_size, max_samples)},
        run_samples_{divide_up(batch_size, runs_per_batch_)},
        request_samples_{std::max(max_samples / batch_size * batch_size, run_samples_)} {}
  explicit constexpr request_layout(const slot_plan& plan) noexcept
      : request_layout{plan.batch_size, plan.request_samples} {}

  /// Of all requests but a batch's or slot's last.
  [[nodiscard]] constexpr std::uint64_t request_samples() const noexcept {
    return request_samples_;
  }
  [[nodiscard]] constexpr std::uint64_t run_samples() const noexcept { return run_samples_; }
  [[nodiscard]] constexpr std::uint64_t runs_per_batch() const noexcept { return runs_per_batch_; }

  /// Requests in a slot of so many samples.
  [[nodiscard]] constexpr std::uint64_t requests(std::uint64_t samples) const noexcept {
    if (runs_per_batch_ == 1) return divide_up(samples, request_samples_);
    return runs(samples);
  }
  /// Runs in a slot of so many samples.
  [[nodiscard]] constexpr std::uint64_t runs(std::uint64_t samples) const noexcept {
    return samples / batch_size_ * runs_per_batch_ + divide_up(samples % batch_size_, run_samples_);
  }

  /// Samples of a request, in a slot of so many samples.
  [[nodiscard]] constexpr sample_run request(std::uint64_t number,
                                             std::uint64_t samples) const noexcept {
    if (runs_per_batch_ == 1) {
      const std::uint64_t begin = number * request_samples_;
      return {begin, std::min(begin + request_samples_, samples)};
    }
    const std::uint64_t batch = number / runs_per_batch_ * batch_size_;
    const std::uint64_t begin = batch + number % runs_per_batch_ * run_samples_;
    return {begin, std::min({begin + run_samples_, batch + batch_size_, samples})};
  }
  /// The run that holds a sample.
  [[nodiscard]] constexpr std::uint64_t run_of(std::uint64_t sample) const noexcept {
    return sample / batch_size_ * runs_per_batch_ + sample % batch_size_ / run_samples_;
  }

 private:
  std::uint64_t batch_size_;
  std::uint64_t runs_per_batch_;
  std::uint64_t run_samples_;
  std::uint64_t request_samples_;
};

}  // namespace feedline::detail
