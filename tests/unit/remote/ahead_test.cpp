/// Bytes that are fetched ahead, for one epoch pass or several.

#include <feedline/error.hpp>

#include "io/byte_file.hpp"
#include "io/far_reads.hpp"
#include "io/file_system.hpp"
#include "remote/request/in_flight_limit.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using detail::next_pass;
using detail::pass_listener;
using detail::reads_for_pass;

namespace {

constexpr std::uint64_t row = 200'000;

/// An object of a server that is far, of which rows are hinted and read for epoch passes.
class far_object {
 public:
  far_object() {
    server_.put("/x", bytes_);
    server_.set_latency(20ms);  // the latency of the opening counts
    file_ = detail::open_file(server_.address("/x"));
    server_.set_latency(0us);
    (void)server_.take_requests();
  }

  void hint(std::uint64_t pass, std::uint64_t number) const { hint(pass, number, number + 1); }
  void hint(std::uint64_t pass, std::uint64_t first, std::uint64_t end) const {
    const reads_for_pass its{pass};
    file_->will_need(first * row, (end - first) * row);
  }
  void hint_byte(std::uint64_t pass, std::uint64_t offset) const {
    const reads_for_pass its{pass};
    file_->will_need(offset, 1);
  }
  [[nodiscard]] bool reads(std::uint64_t pass, std::uint64_t number) const {
    const reads_for_pass its{pass};
    std::vector<std::byte> out(row);
    file_->read(number * row, out);
    return std::ranges::equal(out, std::span{bytes_}.subspan(number * row, row));
  }
  static void end(std::uint64_t pass) {
    REQUIRE(pass_listener::of_process() != nullptr);
    pass_listener::of_process()->pass_ended(pass);
  }
  [[nodiscard]] std::size_t requests() { return server_.take_requests().size(); }
  /// Requests for some rows, out of all.
  [[nodiscard]] std::size_t requests_for(std::uint64_t first, std::uint64_t end) {
    return static_cast<std::size_t>(
        std::ranges::count_if(server_.take_requests(), [&](const http_request& each) {
          const auto range = each.range();
          return range && range->first >= first * row && range->first < end * row;
        }));
  }
  [[nodiscard]] http_server& server() noexcept { return server_; }

 private:
  const mounted_remote mounted_;
  const std::vector<std::byte> bytes_ = numbered(20 * row);
  http_server server_;
  detail::byte_file_ptr file_;
};

}  // namespace

TEST_CASE("remote: what two epoch passes will read is fetched once", "[remote][host]") {
  far_object object;
  const std::uint64_t first = next_pass();
  const std::uint64_t second = next_pass();
  object.hint(first, 3);
  object.hint(second, 3);
  object.hint(second, 3);  // asks for no third read
  CHECK(object.reads(first, 3));
  object.end(first);
  CHECK(object.reads(second, 3));
  CHECK(object.requests() == 1);
  CHECK(object.reads(second, 3));
  CHECK(object.requests() == 1);
}

TEST_CASE("remote: parts of what one pass fetched are there for another one", "[remote][host]") {
  far_object object;
  const std::uint64_t first = next_pass();
  const std::uint64_t second = next_pass();
  object.hint(first, 2, 8);
  for (std::uint64_t number = 2; number < 8; ++number) object.hint(second, number);
  for (std::uint64_t number = 2; number < 8; ++number) CHECK(object.reads(first, number));
  object.end(first);
  for (std::uint64_t number = 2; number < 8; ++number) CHECK(object.reads(second, number));
  CHECK(object.requests() == 1);
}

TEST_CASE("remote: what was fetched for a pass that ended goes, and that of others stays",
          "[remote][host]") {
  far_object object;
  const std::uint64_t left = next_pass();
  const std::uint64_t other = next_pass();
  for (std::uint64_t number = 1; number < 6; ++number) object.hint(left, number);
  object.hint(other, 5);
  object.hint(other, 6);
  const auto before = remote_counts().bytes_unused;
  object.end(left);
  CHECK(remote_counts().bytes_unused - before == 4 * row);
  object.end(left);  // nothing is left
  CHECK(remote_counts().bytes_unused - before == 4 * row);
  CHECK(object.reads(other, 5));
  CHECK(object.reads(other, 6));
  CHECK(object.requests_for(5, 7) == 2);
  for (std::uint64_t number = 1; number < 5; ++number) CHECK(object.reads(other, number));
}

TEST_CASE("remote: requests that have not begun are not made for a pass that ended",
          "[remote][host]") {
  // Both ends of hundreds of connections are here.
  constexpr rlim_t files = 2048;
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, files));
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  if (limit.rlim_cur < files) {
    WARN("skipped: this process may not open enough files");
    return;
  }
  std::promise<void> asked;  // these outlive the server
  std::promise<void> go_on;
  const auto may_go_on = go_on.get_future().share();
  std::atomic<int> count = 0;
  far_object object;
  object.server().set_script([&](const http_request&) {
    if (++count == 1) asked.set_value();
    may_go_on.wait();
    return http_fault{};
  });
  constexpr int most = detail::in_flight_limit::first;
  const std::uint64_t left = next_pass();
  for (std::uint64_t i = 0; i < most + 100; ++i) object.hint_byte(left, row + 1000 * i);
  asked.get_future().wait();  // a hundred wait in the queue, or more
  object.end(left);
  go_on.set_value();
  CHECK(object.reads(next_pass(), 19));
  CHECK(count <= most + 1);
  object.server().set_script({});
}
