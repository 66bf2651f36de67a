#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace mnist {

/// A line on the terminal that shows how far an epoch is, and goes when the epoch ends. Where
/// standard output is no terminal it prints nothing, so that logs hold whole lines only. (Debian 12
/// packages no C++ library for this.)
class progress_line {
 public:
  /// @param title Stands before the bar.
  progress_line(std::string title, std::uint64_t total);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();

  /// Draws, but no more than ten times a second.
  void show(std::uint64_t done);

 private:
  using clock = std::chrono::steady_clock;

  bool on_terminal_;
  std::string title_;
  std::uint64_t total_;
  clock::time_point drawn_{};
};

}  // namespace mnist
