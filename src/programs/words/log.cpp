#include "programs/words/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace programs {
namespace {

class words_sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit words_sink(program speaker) : speaker_{speaker} {}

 private:
  void sink_it_(const spdlog::details::log_msg& said) override {
    const auto level = spdlog::level::to_string_view(said.level);
    const std::string text =
        std::string{name_of(speaker_)} + ": " + std::string{level.data(), level.size()} + ": " +
        in_words_of(speaker_, {said.payload.data(), said.payload.size()}) + '\n';
    std::fputs(text.c_str(), stderr);
  }
  void flush_() override { std::fflush(stderr); }

  program speaker_;
};

}  // namespace

void log_in_words_of(program speaker, spdlog::level::level_enum from) {
  const auto log =
      std::make_shared<spdlog::logger>("feedline", std::make_shared<words_sink>(speaker));
  log->set_level(from);
  spdlog::register_logger(log);
  spdlog::set_default_logger(log);
}

}  // namespace programs
