#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

namespace feedline::test {

/// Replaces the logger named "feedline", and keeps messages from a level up. Restores the earlier
/// logger at its end.
class log_capture {
 public:
  explicit log_capture(spdlog::level::level_enum from = spdlog::level::warn);
  log_capture(const log_capture&) = delete;
  log_capture& operator=(const log_capture&) = delete;
  ~log_capture();

  /// All messages, one a line. Call it after the last one was logged.
  [[nodiscard]] std::string text() const { return told_.str(); }
  [[nodiscard]] std::size_t lines() const;
  /// Blocks until something was logged.
  void await_line() const { told_something_.wait(false); }

 private:
  std::shared_ptr<spdlog::logger> before_;
  std::ostringstream told_;
  std::atomic<bool> told_something_{false};
};

}  // namespace feedline::test
