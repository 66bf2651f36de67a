#include "statistics/thread_clock.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/resource_limit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <future>

using feedline::detail::thread_clock;
using feedline::test::resource_limit;

namespace {

bool tells_queues() {
  return std::filesystem::exists("/proc/thread-self/schedstat");
}

/// The number that the next file would get; negative: it could not be opened.
int next_file() {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file >= 0) ::close(file);
  return file;
}

}  // namespace

TEST_CASE("thread clock: opens no file any more once it was opened", "[statistics][host]") {
  if (!tells_queues()) FEEDLINE_SKIP("this system does not tell of queues");
  thread_clock clock;
  clock.open();
  bool may_open = true;
  bool told = false;
  {
    const resource_limit no_more_files{RLIMIT_NOFILE, 0};
    may_open = next_file() >= 0;
    told = clock.now().queued.has_value();
  }
  REQUIRE(!may_open);
  CHECK(told);
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
