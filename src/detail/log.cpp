#include "detail/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace feedline::detail {

std::shared_ptr<spdlog::logger> log() {
  for (;;) {
    if (auto registered = spdlog::get("feedline")) return registered;
    try {
      // Made by spdlog's own code: spdlog keeps it, and this copy of the library may be unloaded.
      return spdlog::stderr_color_mt("feedline");
    } catch (const spdlog::spdlog_ex&) {
      // Another thread, or another copy of the library in the process, was first.
    }
  }
}

}  // namespace feedline::detail
