#include "detail/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace feedline::detail {

std::shared_ptr<spdlog::logger> log() {
  if (auto registered = spdlog::get("feedline")) return registered;
  auto made = std::make_shared<spdlog::logger>(
      "feedline", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  try {
    spdlog::initialize_logger(made);  // registers it
  } catch (const spdlog::spdlog_ex&) {
    // Another thread, or another copy of the library in the process, was first.
    if (auto registered = spdlog::get("feedline")) return registered;
  }
  return made;
}

}  // namespace feedline::detail
