/// Objects that are read whole, fetched ahead for one epoch pass or several.

#include <feedline/error.hpp>
#include <feedline/remote/statistics.hpp>

#include "io/far_reads.hpp"
#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using detail::reads_for_pass;

namespace {

/// A server whose objects /0, /1, … are read whole. It is far, if it was once.
class whole_objects {
 public:
  explicit whole_objects(std::vector<std::size_t> sizes, std::chrono::microseconds latency = 20ms) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      bytes_.push_back(numbered(sizes[i]));
      bytes_.back()[0] = static_cast<std::byte>(i);
      server_.put("/" + std::to_string(i), bytes_.back());
    }
    server_.put("/first", numbered(10));
    server_.set_latency(latency);
    (void)detail::open_file(server_.address("/first"));
    server_.set_latency(0us);
    (void)server_.take_requests();
  }

  void hint(std::uint64_t pass, std::size_t number, std::uint64_t max_bytes = 0) const {
    const reads_for_pass its{pass};
    const std::string path = address(number);
    detail::file_system_of(path)->will_need_whole(path, max_bytes);
  }
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t pass, std::size_t number) const {
    const reads_for_pass its{pass};
    const std::string path = address(number);
    std::vector<std::byte> out;
    (void)detail::file_system_of(path)->read_whole(path, [&](std::size_t bytes) {
      out.resize(bytes);
      return std::span{out};
    });
    return out;
  }
  [[nodiscard]] bool reads(std::uint64_t pass, std::size_t number) const {
    return read(pass, number) == bytes_[number];
  }
  [[nodiscard]] std::string address(std::size_t number) const {
    return server_.address("/" + std::to_string(number));
  }
  static void end(std::uint64_t pass) { detail::pass_listener::of_process()->pass_ended(pass); }
  [[nodiscard]] std::size_t requests() { return server_.take_requests().size(); }
  [[nodiscard]] http_server& server() noexcept { return server_; }

 private:
  const mounted_remote mounted_;
  std::vector<std::vector<std::byte>> bytes_;
  http_server server_;
};

}  // namespace

TEST_CASE("objects ahead: those that are hinted are asked for together, and once",
          "[remote][host]") {
  std::atomic<int> asked = 0;  // these outlive the server
  std::promise<void> all;
  const auto came = all.get_future().share();
  whole_objects from{{1000, 150'000, 70'000, 1}};
  from.server().set_script([&](const http_request&) {
    if (++asked == 4) all.set_value();
    came.wait();
    return http_fault{};
  });
  for (std::size_t i = 0; i < 4; ++i) from.hint(1, i);
  from.hint(1, 2);
  for (std::size_t i = 0; i < 4; ++i) CHECK(from.reads(1, i));
  CHECK(from.requests() == 4);
  CHECK(from.reads(1, 2));  // it went with the read
  CHECK(from.requests() == 1);
}

TEST_CASE("objects ahead: an object stays until each pass that hinted it has read it",
          "[remote][host]") {
  whole_objects from{{1000, 2000}};
  from.hint(1, 0);
  from.hint(2, 0);
  from.hint(2, 1);
  CHECK(from.reads(1, 0));
  CHECK(from.reads(2, 0));
  const auto before = remote_counts().bytes_unused;
  from.hint(3, 1);
  from.end(2);
  CHECK(from.reads(3, 1));
  CHECK(from.requests() == 2);
  CHECK(remote_counts().bytes_unused == before);
}

TEST_CASE("objects ahead: those of a pass that ends are dropped, and their bytes told",
          "[remote][host]") {
  std::promise<void> asked;
  std::promise<void> goes_on;
  whole_objects from{{1000, 2000}};
  from.server().set_script([&](const http_request&) {
    asked.set_value();
    goes_on.get_future().wait();
    return http_fault{};
  });
  const auto before = remote_counts().bytes_unused;
  from.hint(1, 0);
  asked.get_future().wait();
  from.end(1);
  goes_on.set_value();
  while (remote_counts().bytes_unused == before) std::this_thread::yield();
  CHECK(remote_counts().bytes_unused == before + 1000);
  from.server().set_script({});
  CHECK(from.reads(1, 0));
  CHECK(from.requests() == 2);
}

TEST_CASE("objects ahead: larger ones than were thought are read to their end", "[remote][host]") {
  whole_objects from{{3'000'000, 300'000, 100'000}};
  from.hint(1, 0);           // 1 MiB is usual
  from.hint(1, 1, 200'000);  // fewer than there are
  from.hint(1, 2, 100'000);  // all
  for (std::size_t i = 0; i < 3; ++i) CHECK(from.reads(1, i));
  CHECK(from.requests() == 5);
}

TEST_CASE("objects ahead: an object that is written again between its parts is refused",
          "[remote][host]") {
  whole_objects from{{3'000'000}};
  from.hint(1, 0);
  from.hint(2, 0);
  CHECK(from.reads(1, 0));
  from.server().put("/0", numbered(3'000'001));
  CHECK(contains(message_of<dataset_error>([&] { (void)from.read(2, 0); }), "changed"));
}

TEST_CASE("objects ahead: one that is not there is refused by its read", "[remote][host]") {
  whole_objects from{{1000}};
  from.server().remove("/0");
  from.hint(1, 0);
  const auto message = message_of<dataset_error>([&] { (void)from.read(1, 0); });
  CHECK(contains(message, from.address(0)));
  CHECK(contains(message, "there is no such object"));
  from.server().put("/0", numbered(1000));
  CHECK(from.read(1, 0).size() == 1000);  // the fault was told once
}

TEST_CASE("objects ahead: a near server's are asked for when they are read", "[remote][host]") {
  bool is_asked_for = false;
  for (int tries = 0; tries < 20 && !is_asked_for; ++tries) {  // a busy machine may seem far
    whole_objects from{{1000}, 0us};
    from.hint(1, 0, 500);
    CHECK(from.reads(1, 0));
    const auto requests = from.server().take_requests();
    REQUIRE(!requests.empty());
    is_asked_for = requests.front().range()->second >= 1000;
  }
  CHECK(is_asked_for);
}

TEST_CASE("objects ahead: nothing is asked for without room", "[remote][host]") {
  whole_objects from{{1000}};
  remote_options options = patient_remote();
  options.read_ahead_bytes = 0;
  const mounted_remote none{options};
  from.hint(1, 0);
  CHECK(from.requests() == 0);
  CHECK(from.reads(1, 0));
}
