#pragma once

#include <spdlog/logger.h>

#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

namespace feedline::test {

/// Takes the place of the logger named "feedline", and keeps what it is told from a level up. The
/// logger that was there before comes back.
class log_capture {
 public:
  explicit log_capture(spdlog::level::level_enum from = spdlog::level::warn);
  log_capture(const log_capture&) = delete;
  log_capture& operator=(const log_capture&) = delete;
  ~log_capture();

  /// Once nobody logs any more: each message a line.
  [[nodiscard]] std::string text() const { return told_.str(); }
  [[nodiscard]] std::size_t lines() const;

 private:
  std::shared_ptr<spdlog::logger> before_;
  std::ostringstream told_;
};

}  // namespace feedline::test
