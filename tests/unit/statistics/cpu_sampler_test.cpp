#include "statistics/cpu_sampler.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/cpu_burner.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using detail::cpu_sampler;
using detail::thread_clock;

namespace {

bool tells_queues() {
  return std::filesystem::exists("/proc/thread-self/schedstat");
}

/// The number that the next file would get.
int next_file() {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(file);
  return file;
}

/// As long as it lives the process may open no more files.
class no_more_files {
 public:
  no_more_files() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next_file());
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  no_more_files(const no_more_files&) = delete;
  no_more_files& operator=(const no_more_files&) = delete;
  ~no_more_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("cpu sampler: a request that computes is on a core", "[statistics][host]") {
  cpu_sampler sampler;
  sampler.begin(std::chrono::steady_clock::now());
  burn_cpu(40ms);
  sampler.end();
  const auto seen = sampler.look();
  CHECK(seen.cpu >= 40ms);
  CHECK(seen.wall >= seen.cpu - 1ms);
}

TEST_CASE("cpu sampler: a request that waits is neither on a core nor in the queue for one",
          "[statistics][host]") {
  cpu_sampler sampler;
  sampler.begin(std::chrono::steady_clock::now());
  std::this_thread::sleep_for(200ms);
  sampler.end();
  const auto seen = sampler.look();
  CHECK(seen.wall >= 200ms);
  CHECK(seen.cpu < 50ms);
  CHECK(seen.queued < seen.wall / 2);
}

TEST_CASE("cpu sampler: of requests that follow each other at once, most are not measured",
          "[statistics][host]") {
  cpu_sampler sampler;
  const auto now = std::chrono::steady_clock::now();
  sampler.begin(now);
  sampler.end();
  const auto once = sampler.look();
  sampler.begin(now + cpu_sampler::interval / 2);
  sampler.end();
  CHECK(sampler.look().wall == once.wall);
  sampler.begin(std::chrono::steady_clock::now() + cpu_sampler::interval);
  std::this_thread::sleep_for(1ms);
  sampler.end();
  CHECK(sampler.look().wall > once.wall);
}

TEST_CASE("cpu sampler: no file is opened while a request is read", "[statistics][host]") {
  if (!tells_queues()) FEEDLINE_SKIP("this system does not tell of queues");
  cpu_sampler sampler;
  sampler.open();
  {
    const no_more_files from_here;
    REQUIRE(next_file() < 0);
    sampler.begin(std::chrono::steady_clock::now());
    sampler.end();
  }
  CHECK(sampler.look().queue_known);
}

TEST_CASE("thread clock: tells of the thread that asks, and closes its file",
          "[statistics][host]") {
  if (!tells_queues()) FEEDLINE_SKIP("this system does not tell of queues");
  const int before = next_file();
  {
    thread_clock clock;
    const auto is_told = [&] { return clock.now().queued.has_value(); };
    CHECK(std::async(std::launch::async, is_told).get());
    CHECK(is_told());  // the first thread is gone
  }
  CHECK(next_file() == before);
}
