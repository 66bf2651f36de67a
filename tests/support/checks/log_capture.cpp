#include "support/checks/log_capture.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace feedline::test {
namespace {

/// Writes messages down, and says that there is one.
class telling_sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  telling_sink(std::ostringstream& to, std::atomic<bool>& told) : to_{to}, told_{told} {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    to_.write(text.data(), static_cast<std::streamsize>(text.size()));
    told_.store(true);
    told_.notify_all();
  }
  void flush_() override {}

  std::ostringstream& to_;
  std::atomic<bool>& told_;
};

}  // namespace

log_capture::log_capture(spdlog::level::level_enum from) : before_{spdlog::get("feedline")} {
  spdlog::drop("feedline");
  auto logger = std::make_shared<spdlog::logger>(
      "feedline", std::make_shared<telling_sink>(told_, told_something_));
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
