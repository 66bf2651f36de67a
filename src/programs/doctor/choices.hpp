#pragma once

#include "programs/doctor/advice.hpp"
#include "programs/doctor/findings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What the parts of `advise` share.

namespace doctor {

/// What the readers must do more than the loop takes, so that it never waits.
inline constexpr double headroom = 1.1;
/// Memory that rows may take of what is free: the model and the rest need some, too.
inline constexpr double share_of_free = 0.5;
/// Chunks that are mixed with each other: enough for batches to be well mixed.
inline constexpr std::uint64_t max_window = 1024;

[[nodiscard]] double all_bytes(const findings& measured);
/// Samples a second that the loop takes; empty: as many as it can have.
[[nodiscard]] std::optional<double> wanted_rate(const findings& measured);
/// GPU memory that rows may take; 0 where there is no GPU.
[[nodiscard]] std::size_t row_budget(const findings& measured);

/// Of some numbers of readers that were tried, the smallest that suffices.
class reader_choice {
 public:
  reader_choice(const findings& measured, const std::vector<reader_rate>& rates);

  [[nodiscard]] int readers() const { return readers_ == 0 ? 1 : readers_; }
  /// Samples a second; 0: none was measured.
  [[nodiscard]] double rate() const { return rate_; }
  [[nodiscard]] bool keeps_up() const { return wanted_ && rate_ >= *wanted_; }
  [[nodiscard]] std::string reason() const;

 private:
  double best_ = 0;
  double rate_ = 0;
  int readers_ = 0;
  std::optional<double> wanted_;
};

/// Lets the GPU decode, if a run becomes shorter by it.
/// @param chosen Of readers that decode. @param given What suits with these.
void choose_decoder(const findings& measured, const reader_choice& chosen, advice& given);

}  // namespace doctor
