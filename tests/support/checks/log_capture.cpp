#include "support/checks/log_capture.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace feedline::test {

log_capture::log_capture(spdlog::level::level_enum from) : before_{spdlog::get("feedline")} {
  spdlog::drop("feedline");
  auto logger = std::make_shared<spdlog::logger>(
      "feedline", std::make_shared<spdlog::sinks::ostream_sink_mt>(told_, true));
  logger->set_level(from);
  logger->set_pattern("%v");
  spdlog::register_logger(std::move(logger));
}

log_capture::~log_capture() {
  spdlog::drop("feedline");
  if (before_) spdlog::register_logger(before_);
}

std::size_t log_capture::lines() const {
  const std::string all = text();
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
}

}  // namespace feedline::test
