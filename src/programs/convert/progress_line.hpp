#pragma once

#include "programs/convert/conversion.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace convert {

/// A line on the terminal that shows how far a conversion is. Where standard output is no terminal
/// it prints nothing, so that logs hold whole lines only.
class progress_line {
 public:
  progress_line() = default;
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { erase(); }

  /// Draws, but no more than ten times a second.
  void show(step now, std::uint64_t done, std::uint64_t samples) {
    if (!on_terminal_) return;
    const clock::time_point time = clock::now();
    if (now != step_ || done < begun_at_) {
      step_ = now;
      begun_at_ = done;
      begun_ = time;
    }
    if (time - drawn_ < std::chrono::milliseconds{100}) return;
    drawn_ = time;
    constexpr std::array words{"checking what is there", "writing", "reading back"};  // of steps
    const double seconds = std::chrono::duration<double>(time - begun_).count();
    const double rate = seconds > 0 ? static_cast<double>(done - begun_at_) / seconds : 0;
    std::printf("%s%s: %llu of %llu samples, %3.0f %%, %.0f a second", erase_line,
                words[static_cast<std::size_t>(now)], static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(samples),
                100 * static_cast<double>(done) / static_cast<double>(samples), rate);
    std::fflush(stdout);
  }

  void erase() {
    if (!on_terminal_) return;
    std::fputs(erase_line, stdout);
    std::fflush(stdout);
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto erase_line = "\r\x1b[K";

  bool on_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  step step_ = step::checking;
  std::uint64_t begun_at_ = 0;  ///< samples, of the step
  clock::time_point begun_ = clock::now();
  clock::time_point drawn_{};
};

}  // namespace convert
