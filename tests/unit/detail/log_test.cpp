#include "detail/log.hpp"

#include "support/checks/catch.hpp"

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using feedline::detail::log;

TEST_CASE("log: the program's logger is used where it registered one") {
  spdlog::drop("feedline");
  const auto own = spdlog::create<spdlog::sinks::null_sink_mt>("feedline");
  CHECK(log() == own);
  spdlog::drop("feedline");
}

TEST_CASE("log: one logger is made and registered where there is none") {
  spdlog::drop("feedline");
  const auto made = log();
  REQUIRE(made);
  CHECK(made->name() == "feedline");
  CHECK(spdlog::get("feedline") == made);
  CHECK(log() == made);
  spdlog::drop("feedline");
}

TEST_CASE("log: other code may register one between the search and the registering") {
  // Another copy of the library shares no lock with this one: no gate can stand between the two
  // steps, so they are tried many times. All loggers are kept until the end: spdlog's own code is
  // not instrumented, and ThreadSanitizer would report what it deletes.
  using loggers = std::vector<std::shared_ptr<spdlog::logger>>;
  std::atomic<bool> done{false};
  loggers others;
  std::thread other{[&] {
    for (int i = 0; i < 50'000; ++i) {
      try {
        others.push_back(spdlog::create<spdlog::sinks::null_sink_mt>("feedline"));
      } catch (const spdlog::spdlog_ex&) {
        // This copy was first.
      }
      spdlog::drop("feedline");
    }
    done = true;
  }};
  loggers ours{log()};
  int none = 0;
  int thrown = 0;
  while (!done) {
    try {
      auto found = log();
      if (!found) ++none;
      if (found != ours.back()) ours.push_back(std::move(found));
    } catch (const spdlog::spdlog_ex&) {
      ++thrown;
    }
  }
  other.join();
  spdlog::drop("feedline");
  CHECK(none == 0);
  CHECK(thrown == 0);
}
