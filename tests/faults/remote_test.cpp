/// Objects of other machines are opened, read and cached while any allocation fails.

#include <feedline/error.hpp>

#include "faults/system_calls.hpp"
#include "io/file_system.hpp"
#include "remote/cache/object_cache.hpp"
#include "remote/direct/servers.hpp"
#include "remote/request/awaited.hpp"
#include "remote/request/transfer_loop.hpp"
#include "remote/request/transfer_queue.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

using namespace feedline;
using namespace feedline::test;
using detail::object_cache;

namespace {

constexpr std::uint64_t block_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t blocks = 1000;

/// A server of an object, at two addresses, in a process of its own, whose memory does not fail.
class server_process {
 public:
  explicit server_process(std::size_t bytes, std::chrono::microseconds latency = {}) {
    std::array<int, 2> told{};
    std::array<int, 2> ends{};
    REQUIRE(::pipe(told.data()) == 0);
    REQUIRE(::pipe(ends.data()) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(ends[1]);
      http_server server;
      server.put("/x", numbered(bytes), "\"v\"");
      server.put("/y", numbered(bytes), "\"v\"");
      server.set_latency(latency);
      const int port = server.port();
      char one = 0;
      const bool is_told = ::write(told[1], &port, sizeof port) == sizeof port;
      (void)!::read(ends[0], &one, 1);  // until the other process closes its end
      ::_exit(is_told ? 0 : 1);
    }
    ::close(ends[0]);
    ::close(told[1]);
    ends_ = ends[1];
    int port = 0;
    REQUIRE(::read(told[0], &port, sizeof port) == sizeof port);
    ::close(told[0]);
    address_ = "http://127.0.0.1:" + std::to_string(port) + "/x";
  }
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;
  ~server_process() {
    ::close(ends_);
    int status = 0;
    (void)::waitpid(child_, &status, 0);
  }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  pid_t child_ = 0;
  int ends_ = -1;
  std::string address_;
};

/// Opens the object and reads two parts of it, one of which was hinted. Reads the other one whole,
/// which was hinted, too.
bool is_right(const std::string& address, const std::vector<std::byte>& all) {
  const auto file = detail::open_file(address);
  std::array<std::vector<std::byte>, 2> out{std::vector<std::byte>(1000),
                                            std::vector<std::byte>(2 * block_bytes)};
  const std::array<std::uint64_t, 2> begins{9 * block_bytes + 50, 3 * block_bytes};
  file->will_need(begins[1], out[1].size());
  for (std::size_t i = 0; i < out.size(); ++i) file->read(begins[i], out[i]);
  const std::string other = address.substr(0, address.size() - 1) + "y";
  const auto files = detail::file_system_of(other);
  files->will_need_whole(other, all.size() / 2);
  std::vector<std::byte> whole;
  (void)files->read_whole(other, [&](std::size_t bytes) {
    whole.resize(bytes);
    return std::span{whole};
  });
  return whole == all &&
         std::ranges::equal(out[0], std::span{all}.subspan(begins[0], out[0].size())) &&
         std::ranges::equal(out[1], std::span{all}.subspan(begins[1], out[1].size()));
}

/// The same, with memory. A request that is in flight may still fail because there was none; the
/// failure then also reaches a reader that asks for its bytes now.
bool is_right_soon(const std::string& address, const std::vector<std::byte>& all) {
  for (int more = 20;; --more) try {
      return is_right(address, all);
    } catch (const dataset_error&) {
      if (more == 0) throw;
    }
}

}  // namespace

TEST_CASE("faults: a block that is fetched for a cache is free again, whichever allocation fails",
          "[remote][faults][host]") {
  const bool in_folder = GENERATE(true, false);
  CAPTURE(in_folder);
  const temporary_directory folder;
  detail::cache_setting wanted{.memory_bytes = in_folder ? 0 : blocks * block_bytes,
                               .block_bytes = block_bytes};
  if (in_folder)
    wanted.folder = detail::cache_folder::open(folder.path() / "cache",
                                               blocks * detail::cache_folder::counted(block_bytes));
  const auto setting = std::make_shared<const detail::cache_setting>(wanted);
  object_cache& cache = object_cache::of_this_process(setting);
  const auto identity = std::make_shared<const detail::object_identity>(detail::identify(
      "http://127.0.0.1/" + folder.path().string(), "v", blocks * block_bytes, block_bytes));
  const auto bytes = std::make_shared<const std::vector<std::byte>>(numbered(block_bytes));

  std::uint64_t number = 0;
  std::uint64_t kept = 0;
  for (bool was_due = true; was_due && number < blocks; ++number) {
    CAPTURE(number);
    const detail::block_ref block{identity.get(), number};
    int ended = 0;
    const auto coming = std::make_shared<object_cache::arrival>(object_cache::arrival{
        .of = identity, .number = number, .done = [&](const auto&, bool) { ++ended; }});
    allocations().arm(number + 1);
    const bool is_begun = cache.begin(block, [] { return true; }) == object_cache::claim::begun;
    if (is_begun) {
      coming->owner = bytes;
      coming->bytes = *bytes;
      cache.arrived(coming);
    }
    object_cache::settle_all();
    was_due = allocations().calls() > number;
    allocations().disarm();
    CHECK(ended == (is_begun ? 1 : 0));
    const bool is_kept = cache.has(block);
    kept += is_kept ? 1 : 0;
    std::vector<std::byte> out(1000);
    CHECK(cache.read(block, 500, out) == is_kept);
    if (is_kept)
      CHECK(std::ranges::equal(out, std::span{*bytes}.subspan(500, out.size())));
    else  // nothing of it is left, so another one may fetch it
      CHECK(cache.begin(block, [] { return false; }) == object_cache::claim::refused);
    if (!is_kept && in_folder) {
      CHECK(wanted.folder->lock(block.id().key()));
      wanted.folder->unlock(block.id().key());
    }
  }
  CHECK(number > 3);
  CHECK(kept > 0);
  if (!in_folder) return;
  CHECK(wanted.folder->list().size() == kept);
  CHECK(wanted.folder->used() == kept * detail::cache_folder::counted(block_bytes));
}

TEST_CASE("faults: one more thread for requests is counted without memory",
          "[remote][faults][host]") {
  detail::transfer_queue queue{8};
  allocations().arm(1);
  queue.set_threads(8);  // the thread runs by then, so this cannot be refused
  const auto calls = allocations().calls();
  allocations().disarm();
  CHECK(calls == 0);
}

TEST_CASE("faults: requests that wait end with the process, although there is no memory",
          "[remote][faults][host]") {
  if (thread_sanitized) {
    WARN("skipped: ThreadSanitizer starts no thread in a child of fork");
    return;
  }
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // it answers nothing
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(::bind(server, reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(server, 8) == 0);
  REQUIRE(::getsockname(server, reinterpret_cast<sockaddr*>(&at), &size) == 0);

  const pid_t child = ::fork();
  if (child == 0) {
    detail::transfer_queue::set_max_in_flight(1);  // the others wait
    const auto target = std::make_shared<const detail::remote_target>(detail::remote_target{
        .url = "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port)) + "/x"});
    detail::transfer_loop& loop = detail::transfer_loop::of_this_process();
    std::vector<std::byte> out(1000);
    std::atomic<int> ended{0};
    constexpr int requests = 4;
    for (int i = 0; i < requests; ++i) {
      const auto each = std::make_shared<detail::remote_transfer>();
      each->target = target;
      each->wanted.bytes = out.size();
      each->out = std::span{out};
      each->done = [&ended] { ++ended; };
      loop.submit(each, detail::transfer_loop::urgency::now);
    }
    allocations().arm(1, 1'000'000'000);
    loop.stop();
    allocations().disarm();
    ::_exit(ended.load() == requests ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  ::close(server);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("faults: a server is not remembered for direct connections if there is no memory",
          "[remote][faults][host]") {
  detail::direct_servers servers;
  const std::string server = "http://a.host.with.a.long.name:80";
  allocations().arm(1);
  servers.add(server, "127.0.0.1", 80);
  CHECK(allocations().calls() == 1);
  allocations().disarm();
  CHECK_FALSE(servers.has(server));
  servers.add(server, "127.0.0.1", 80);
  CHECK(servers.has(server));
}

TEST_CASE("faults: half of the files that may be open are left to others, whatever is requested",
          "[remote][faults][host]") {
  if (thread_sanitized) {
    WARN("skipped: ThreadSanitizer starts no thread in a child of fork");
    return;
  }
  constexpr int requests = 60;
  constexpr std::uint64_t apart = 200'000;
  constexpr std::size_t bytes = 40'000;
  const server_process server{requests * apart, std::chrono::milliseconds{100}};
  const pid_t child = ::fork();  // its requests are the first ones of a process
  if (child == 0) {
    const auto open_files = [] {
      return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
    };
    const rlimit files{2 * requests, 2 * requests};
    (void)::setrlimit(RLIMIT_NOFILE, &files);
    detail::transfer_queue::set_second_requests(false);
    (void)detail::transfer_loop::of_this_process();
    const auto before = open_files();
    const auto target = std::make_shared<const detail::remote_target>(
        detail::remote_target{.url = server.address()});
    std::vector<std::byte> out(requests * bytes);
    const auto request_all = [&](detail::wanted_bytes wanted, std::uint64_t step) {
      detail::awaited all;
      for (std::size_t i = 0; i < requests; ++i, wanted.begin += step)
        all.submit(target, wanted, std::span{out}.subspan(i * bytes, bytes));
      all.wait();
      return std::ranges::all_of(all.all(), [](const auto& each) {
        return each->fault.fault == detail::remote_fault::none;
      });
    };
    const bool is_open = request_all({.bytes = bytes}, 0);  // libcurl makes these
    const bool is_read = request_all({.what = detail::wanted_bytes::kind::range,
                                      .bytes = bytes,
                                      .pin = {.size = requests * apart, .etag = "\"v\""}},
                                     apart);
    // Each group of libcurl's has some descriptors of its own, besides its connections.
    const bool is_half = open_files() - before < requests + 30;
    ::_exit(!is_open ? 1 : !is_read ? 2 : !is_half ? 3 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("faults: a remote object is right or refused, whichever allocation fails",
          "[remote][faults][host]") {
  if (thread_sanitized) {
    WARN("skipped: ThreadSanitizer starts no thread in a child of fork");
    return;
  }
  const bool is_cached = GENERATE(false, true);
  CAPTURE(is_cached);
  const temporary_directory folder;
  const server_process server{16 * block_bytes, std::chrono::milliseconds{3}};
  const auto all = numbered(16 * block_bytes);
  int refused = 0;
  bool was_due = true;
  for (std::uint64_t nth = 1; was_due && nth < 3000; nth += sanitized ? 7 : 1) {
    CAPTURE(nth);
    remote_options options;
    options.second_requests = false;
    if (is_cached)  // a folder of its own, as all blocks are fetched each time
      options.cache = {.folder = folder.path() / std::to_string(nth),
                       .folder_bytes = std::uint64_t{16} << 20,
                       .block_bytes = block_bytes};
    const mounted_remote mounted{options};
    allocations().arm(nth);
    bool right = false;
    try {
      right = is_right(server.address(), all);
    } catch (const std::exception&) {
      right = true;
      ++refused;
    }
    object_cache::settle_all();
    was_due = allocations().calls() >= nth;
    allocations().disarm();
    CHECK(right);
    CHECK(is_right_soon(server.address(), all));
    object_cache::settle_all();
  }
  CHECK(!was_due);
  CHECK(refused > (sanitized ? 2 : 10));  // a seventh of the allocations fail there
}
