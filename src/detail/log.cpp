#include "detail/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>

namespace feedline::detail {

std::shared_ptr<spdlog::logger> log() {
  static std::mutex making;
  const std::scoped_lock lock{making};  // two threads that find none must not both register one
  auto logger = spdlog::get("feedline");
  if (!logger) logger = spdlog::stderr_color_mt("feedline");
  return logger;
}

}  // namespace feedline::detail
