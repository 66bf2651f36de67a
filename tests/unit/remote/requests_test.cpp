/// How requests are distributed, made a second time, and ended.

#include <feedline/error.hpp>

#include "io/far_reads.hpp"
#include "io/file_system.hpp"
#include "remote/request/answer_times.hpp"
#include "remote/request/own_state.hpp"
#include "remote/request/transfer_queue.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"
#include "unit/remote/replaced_calls.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <netdb.h>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using detail::transfer_ptr;
using detail::transfer_queue;
using detail::transfer_urgency;

namespace {

/// The function of that name that this program would call without the one below. ThreadSanitizer's
/// own one knows the locks of the C library, so it comes first.
template <typename Function>
Function* replaced(const char* name) {
  void* found = ::dlsym(RTLD_DEFAULT, (std::string{"__interceptor_"} + name).c_str());
  if (found == nullptr) found = ::dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function*>(found);
}

}  // namespace

/// Stands in for the C library's: a name server that does not answer for one name until it is told.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  static const auto other = replaced<decltype(getaddrinfo)>("getaddrinfo");
  if (name != nullptr && std::strcmp(name, "lost.invalid") == 0) {
    while (!name_server_answers) std::this_thread::sleep_for(1ms);
    ++answered_names;
  }
  return other(name, service, hints, found);
}

/// Stands in for the C library's: the thread does not run for a while after it has sent a request.
extern "C" ssize_t send(int socket, const void* bytes, std::size_t size, int flags) {
  static const auto other = replaced<decltype(send)>("send");
  const ssize_t sent = other(socket, bytes, size, flags);
  const bool is_request = size > 4 && std::memcmp(bytes, "GET ", 4) == 0;
  if (is_request && requests_pause) std::this_thread::sleep_for(30ms);
  return sent;
}

namespace {

transfer_ptr transfer_of(std::uint64_t loader) {
  auto made = std::make_shared<detail::remote_transfer>();
  made->loader = loader;
  return made;
}

std::vector<std::uint64_t> loaders_of(const std::vector<transfer_ptr>& taken) {
  std::vector<std::uint64_t> loaders;
  for (const transfer_ptr& each : taken) loaders.push_back(each->loader);
  return loaders;
}

}  // namespace

TEST_CASE("requests: loaders take turns, and what readers wait for comes first", "[remote][host]") {
  transfer_queue queue{2};
  transfer_queue::wanted_thread wake;
  for (int i = 0; i < 3; ++i) CHECK(queue.add(transfer_of(1), transfer_urgency::ahead, wake));
  for (int i = 0; i < 2; ++i) CHECK(queue.add(transfer_of(2), transfer_urgency::ahead, wake));
  const transfer_ptr hurried = transfer_of(3);
  CHECK(queue.add(hurried, transfer_urgency::ahead, wake));
  CHECK(queue.add(transfer_of(4), transfer_urgency::now, wake));
  queue.hurry(hurried);
  queue.hurry(hurried);
  std::vector<transfer_ptr> taken;
  (void)queue.take(0, taken);
  auto loaders = loaders_of(taken);
  REQUIRE(loaders.size() == 7);
  std::sort(loaders.begin(), loaders.begin() + 2);
  CHECK(loaders == std::vector<std::uint64_t>{3, 4, 1, 2, 1, 2, 1});
}

TEST_CASE("requests: threads share them, and no more are in flight than are allowed",
          "[remote][host]") {
  transfer_queue::set_max_in_flight(6);
  {
    transfer_queue queue{2};
    queue.set_threads(2);
    transfer_queue::wanted_thread wake;
    std::vector<std::size_t> woken;
    for (int i = 0; i < 10; ++i) {
      wake.reset();
      CHECK(queue.add(transfer_of(1), transfer_urgency::now, wake));
      if (wake) woken.push_back(*wake);
    }
    CHECK(std::ranges::count(woken, 0U) == std::ranges::count(woken, 1U));
    std::vector<transfer_ptr> first, second;
    (void)queue.take(0, first);  // the other one was woken already
    CHECK(first.size() == 3);
    (void)queue.take(1, second);
    CHECK(second.size() == 3);
    (void)queue.take(1, second);
    CHECK(second.size() == 3);
    queue.ended(1, {});
    (void)queue.take(1, second);
    CHECK(second.size() == 4);
    int left = 0;
    while (queue.close()) ++left;
    CHECK(left == 3);
    CHECK_FALSE(queue.add(transfer_of(1), transfer_urgency::now, wake));
  }
  mount_remote_files();
}

TEST_CASE("requests: an answer lags after twice the time that most take", "[remote][host]") {
  detail::answer_times times;
  CHECK_FALSE(times.lags_after(1000).has_value());
  for (int i = 0; i < 100; ++i) times.add(1000, i % 50 == 0 ? 9s : 100ms);
  const auto late = times.lags_after(1000);
  REQUIRE(late.has_value());
  CHECK(*late >= 200ms);
  CHECK(*late <= 260ms);
  CHECK_FALSE(times.lags_after(100'000).has_value());
}

TEST_CASE("requests: one that lags is made a second time, and the first answer counts",
          "[remote][host]") {
  const std::size_t row =
      GENERATE(10'000U, 50'000U);  // libcurl reads the first, a direct connection the second
  const mounted_remote mounted;
  std::atomic<bool> stalls = false;  // outlives the server
  http_server server;
  const auto bytes = numbered(std::size_t{1} << 20);
  server.put("/x", bytes, "\"v\"");
  server.set_script([&](const auto&) {
    return stalls.exchange(false) ? http_fault{http_fault::kind::stall, {}, 7000} : http_fault{};
  });
  const auto file = detail::open_file(server.address("/x"));
  std::vector<std::byte> out(row);
  // Without second requests, so that those that a busy machine would want do not use up what is
  // allowed.
  for (std::uint64_t i = 0; i < 100; ++i) file->read(100'000 + (i * 37 % 60) * 15'000, out);
  const mounted_remote with_second{{.deadline = 60s, .stall_after = 50s}};
  const auto before = remote_counts();
  stalls = true;
  file->read(900'123, out);
  CHECK(std::ranges::equal(out, std::span{bytes}.subspan(900'123, out.size())));
  // Without the second one, the first would be made again after its stall.
  CHECK(remote_counts().hedged == before.hedged + 1);
  CHECK(remote_counts().hedges_won == before.hedges_won + 1);
  CHECK(remote_counts().stalls == before.stalls);
  CHECK(remote_counts().failed == before.failed);
}

TEST_CASE("requests: the end of one does not wait for a name server that does not answer",
          "[remote][host]") {
  http_server server;
  server.put("/x", numbered(1000));
  name_server_answers = false;
  const int answered_before = answered_names;
  {
    const mounted_remote mounted{{.deadline = 60s, .stall_after = 100ms}};
    CHECK(contains(
        message_of<dataset_error>([] { (void)detail::open_file("http://lost.invalid/x"); }),
        "no byte came for 100 ms; tried 5 times"));
  }
  const mounted_remote mounted;
  CHECK(detail::open_file(server.address("/x"))->size() == 1000);
  CHECK(answered_names == answered_before);
  name_server_answers = true;
}

TEST_CASE("requests: a lock that another thread held at a fork is free in the child",
          "[remote][host]") {
  if (thread_sanitized) {
    WARN("skipped: ThreadSanitizer does not know of a child's own lock");
    return;
  }
  detail::own_state<std::mutex> lock;
  std::atomic<int> step = 0;
  std::thread other{[&] {
    const std::lock_guard held{lock.get()};
    step = 1;
    while (step != 2) std::this_thread::yield();
  }};
  while (step != 1) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs ends
    const std::lock_guard held{lock.get()};
    ::_exit(0);
  }
  step = 2;
  other.join();
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("requests: those of a thread name its loader", "[remote][host]") {
  CHECK(detail::reading_for() == 0);
  {
    const detail::reads_for_loader mine{detail::next_loader()};
    CHECK(detail::reading_for() != 0);
  }
  CHECK(detail::reading_for() == 0);
}

TEST_CASE("requests: a server is far also if the thread pauses after it has sent a request",
          "[remote][host]") {
  const mounted_remote mounted;
  http_server server;
  server.set_latency(5ms);
  const auto bytes = numbered(std::size_t{1} << 20);
  server.put("/x", bytes, "\"v\"");
  requests_pause = true;
  const auto file = detail::open_file(server.address("/x"));
  requests_pause = false;
  (void)server.take_requests();
  file->will_need(700'000, 1000);  // a near server's bytes are requested when they are read
  file->will_need(900'000, 1000);
  std::size_t requests = 0;
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (requests < 2 && std::chrono::steady_clock::now() < deadline)
    requests += server.take_requests().size();
  CHECK(requests == 2);
}
