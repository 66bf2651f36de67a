/// Processes that share a cache's folder, and such as are killed.

#include <feedline/sampler/shard.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "io/file_system.hpp"
#include "support/checks/sanitized.hpp"
#include "unit/remote/cache/cached_rows.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::object_cache;

namespace {

constexpr cached_rows rows;

/// The parent's server has threads at work, and one may allocate at the moment of a fork.
bool is_skipped() {
  if (sanitized)
    WARN(
        "skipped: ThreadSanitizer starts no thread in a child of fork, and AddressSanitizer does "
        "not free its allocator's locks there");
  return sanitized;
}

pid_t start(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  bool right = false;
  try {
    right = body();
  } catch (const std::exception& fault) {
    std::fputs(fault.what(), stderr);
  }
  ::_exit(right ? 0 : 1);
}

/// The child's status; it was killed if that is not 0 or 1.
int wait_for(pid_t child) {
  int status = -1;
  while (::waitpid(child, &status, 0) != child) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

}  // namespace

TEST_CASE("remote cache: waits for another process's fetch count as waits for the network",
          "[remote][host]") {
  if (is_skipped()) return;
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, rows.blocks() + 2)};
  http_server server;
  rows.put(server, "/a.npy");
  const auto file = detail::open_file(server.address("/a.npy"));
  const auto* const cached = dynamic_cast<const detail::cached_file*>(file.get());
  REQUIRE(cached != nullptr);
  const std::uint64_t key = detail::block_id{cached->identity()->hash, 1}.key();
  std::array<int, 2> locked{};
  std::array<int, 2> released{};
  REQUIRE(::pipe(locked.data()) == 0);
  REQUIRE(::pipe(released.data()) == 0);
  const pid_t other = start([&] {
    char one = 0;
    const auto same = detail::cache_folder::open(folder.path() / "cache", 1 << 20);
    return same->lock(key) && ::write(locked[1], &one, 1) == 1 && ::read(released[0], &one, 1) == 1;
  });
  char one = 0;
  REQUIRE(::read(locked[0], &one, 1) == 1);
  const auto before = remote_counts();
  constexpr std::chrono::milliseconds held{100};
  std::thread releasing{[&] {
    while (remote_counts().cache.waits == before.cache.waits) std::this_thread::yield();
    // The reader waits now, and as long as the other process has the lock.
    const auto until = std::chrono::steady_clock::now() + held;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    (void)!::write(released[1], &one, 1);
  }};
  std::vector<std::byte> out(100);
  file->read(rows.block_bytes + 5000, out);
  releasing.join();
  CHECK(wait_for(other) == 0);
  CHECK(remote_counts().wait_time >= before.wait_time + held);
  for (const int each : {locked[0], locked[1], released[0], released[1]}) ::close(each);
}

TEST_CASE("remote cache: processes of a machine fetch each block once", "[remote][host]") {
  if (is_skipped()) return;
  const int world = GENERATE(2, 4, 8);
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, rows.blocks() + 2)};
  http_server server;
  rows.put(server, "/a.npy");
  const std::string address = server.address("/a.npy");
  const auto expected = rows.content();
  const auto run_all = [&] {
    const std::uint64_t before = server.body_bytes();
    (void)server.take_requests();
    std::vector<pid_t> all;
    for (int rank = 0; rank < world; ++rank)
      all.push_back(start([&, rank] {
        loader loader{open(address),
                      shuffle{},
                      make_host_device(),
                      {.batch_size = 8, .shard = {rank, world}, .readers = 2}};
        bool right = true;
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
          right = rows.read_epoch(loader, epoch, expected) && right;
        object_cache::settle_all();
        return right;
      }));
    for (const pid_t each : all) CHECK(wait_for(each) == 0);
    // A process opens the object once or more often, by its first 64 KiB.
    const auto requests = server.take_requests();
    const double openings =
        65536.0 * static_cast<double>(std::ranges::count_if(requests, [](const http_request& each) {
          return each.range() == std::pair{std::uint64_t{0}, std::uint64_t{65535}};
        }));
    return (static_cast<double>(server.body_bytes() - before) - openings) /
           static_cast<double>(rows.bytes());
  };
  const double first = run_all();
  CAPTURE(world, first);
  CHECK(first > 0.99);
  CHECK(first < 1.01);
  CHECK(run_all() <= 0);
}

TEST_CASE(
    "remote cache: after processes that were killed no byte is wrong, and no whole block is "
    "fetched again",
    "[remote][host]") {
  if (is_skipped()) return;
  const temporary_directory folder;
  const std::uint64_t kept = GENERATE(rows.blocks() + 2, rows.blocks() / 2);
  const mounted_remote mounted{rows.with_folder(folder, kept)};
  std::atomic<int> left{0};
  std::atomic<pid_t> victim{0};
  http_server server;
  rows.put(server, "/a.npy");
  const std::string address = server.address("/a.npy");
  const auto expected = rows.content();
  server.set_script([&](const http_request&) -> http_fault {
    if (left.fetch_sub(1) == 1)
      if (const pid_t now = victim.exchange(0); now != 0) ::kill(now, SIGKILL);
    return {};
  });
  const auto read_all = [&](std::uint64_t epochs) {
    loader loader{open(address), shuffle{}, make_host_device(), {.batch_size = 8, .readers = 2}};
    bool right = true;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
      right = rows.read_epoch(loader, epoch, expected) && right;
    object_cache::settle_all();
    return right;
  };
  std::minstd_rand random{42};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  constexpr int wanted = 50;    // twice
  int kills = 0;
  for (int i = 0; i < 3 * wanted && kills < wanted; ++i) {
    left = 2 + static_cast<int>(random() % 12);
    std::array<int, 2> gate{};
    REQUIRE(::pipe(gate.data()) == 0);
    const pid_t child = start([&] {
      char open = 0;
      return ::read(gate[0], &open, 1) == 1 && read_all(3);
    });
    victim = child;
    REQUIRE(::write(gate[1], "x", 1) == 1);
    ::close(gate[0]);
    ::close(gate[1]);
    const int ended = wait_for(child);
    victim = 0;
    left = 0;
    CHECK(ended != 1);  // killed, or right
    kills += ended == 2 ? 1 : 0;
    if (i % 4 != 3) continue;
    // Some blocks go, so that there is something to fetch.
    int number = 0;
    for (const auto& each :
         std::filesystem::directory_iterator{folder.path() / "cache" / "feedline-cache-1"})
      if (each.path().filename() != "locks" && ++number % 2 == 0)
        std::filesystem::remove(each.path());
  }
  CHECK(kills == wanted);
  const auto files = detail::cache_folder::open(folder.path() / "cache", rows.room(kept));
  const auto whole = files->list();
  (void)server.take_requests();
  const pid_t last = start([&] { return read_all(1); });
  CHECK(wait_for(last) == 0);
  const auto identity =
      detail::identify(address, std::to_string(detail::open_file(address)->size()) + " \"one\"",
                       detail::open_file(address)->size(), rows.block_bytes);
  std::uint64_t again = 0;
  for (const http_request& each : server.take_requests()) {
    const auto range = each.range();
    if (!range || range->first == 0) continue;  // an opening
    const detail::block_ref block{&identity, range->first / rows.block_bytes};
    if (std::ranges::find(whole, detail::block_name{block.id().key(), block.bytes()}) !=
        whole.end())
      ++again;
  }
  CHECK(again == 0);
  CHECK(files->list().size() >= std::min<std::size_t>(kept, rows.blocks()) - 1);
}

TEST_CASE("remote cache: a full disk is no error", "[remote][host]") {
  if (is_skipped()) return;
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, rows.blocks() + 2)};
  http_server server;
  rows.put(server, "/a.npy");
  const std::string address = server.address("/a.npy");
  const pid_t child = start([&] {
    // Files cannot grow past some bytes: writing a block fails.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    loader loader{open(address), shuffle{}, make_host_device(), {.batch_size = 8, .readers = 2}};
    const auto before = remote_counts().cache.not_written;
    const bool right = rows.read_epoch(loader, 0, rows.content());
    object_cache::settle_all();
    return right && remote_counts().cache.not_written > before;
  });
  CHECK(wait_for(child) == 0);
}

TEST_CASE("remote cache: a child of fork uses its parent's cache", "[remote][host]") {
  if (is_skipped()) return;
  const temporary_directory folder;
  const mounted_remote mounted{rows.with_folder(folder, rows.blocks() + 2)};
  http_server server;
  rows.put(server, "/a.npy");
  const dataset_ptr data = open(server.address("/a.npy"));
  const auto expected = rows.content();
  loader parent{data, shuffle{}, make_host_device(), {.batch_size = 8, .readers = 2}};
  auto batches = parent.epoch(0);
  REQUIRE(batches.next());  // its threads are at work
  const pid_t child = start([&] {
    loader own{data, shuffle{}, make_host_device(), {.batch_size = 8, .readers = 2}};
    return rows.read_epoch(own, 0, expected) && rows.read_epoch(own, 1, expected);
  });
  while (batches.next()) {
  }
  CHECK(wait_for(child) == 0);
}
