#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <utility>

namespace feedline::detail {

/// The logger named "feedline": the one the program registered with spdlog under that name, else
/// one to standard error.
[[nodiscard]] std::shared_ptr<spdlog::logger> log();

/// An error, for destructors: lost where there is no memory for it.
template <class... Args>
void log_error(spdlog::format_string_t<Args...> format, Args&&... args) noexcept {
  try {
    log()->error(format, std::forward<Args>(args)...);
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody else to tell
  }
}

}  // namespace feedline::detail
