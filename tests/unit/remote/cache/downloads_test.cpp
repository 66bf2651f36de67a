/// Forecasts of downloads, and what a server counts then.

#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shard.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "remote/cache/download_simulation.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/simulated_reads.hpp"
#include "unit/remote/cache/cached_rows.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <optional>
#include <semaphore>
#include <thread>

using namespace feedline;
using namespace feedline::test;

namespace {

using namespace std::chrono_literals;

/// Rows that are larger than a gap that is fetched with what is around it.
constexpr cached_rows large{.rows = 256, .row_bytes = 147456, .block_bytes = 1048576};

/// Nothing is read before it is asked for.
loader loader_of(http_server& server, const sampler& order, std::uint64_t epochs = 0) {
  return loader{open(server.address("/a.npy")),
                order,
                make_host_device(),
                {.batch_size = 4, .epochs = epochs, .readers = 0}};
}

/// Bytes that the server is asked for in an epoch.
std::uint64_t count_of(loader& from, http_server& server, std::uint64_t epoch) {
  detail::object_cache::settle_all();
  asked_bytes asked{server};
  CHECK(large.read_epoch(from, epoch, large.content()));
  return asked.count();
}

bool is_near(std::uint64_t counted, std::uint64_t foretold) {
  const double difference = static_cast<double>(counted) - static_cast<double>(foretold);
  return std::abs(difference) <= 0.01 * static_cast<double>(large.bytes());
}

}  // namespace

TEST_CASE("downloads: without a cache each epoch downloads its samples", "[remote][host]") {
  const mounted_remote mounted{{.second_requests = false}};  // requests are counted
  http_server server;
  large.put(server, "/a.npy");
  loader loader = loader_of(server, shuffle{});
  const download_plan plan = loader.plan_downloads();
  REQUIRE(plan.is_known);
  CHECK(plan.cache_bytes == 0);
  CHECK(plan.needed_bytes == large.bytes());
  CHECK(plan.epoch_bytes == large.bytes());
  CHECK(plan.later_bytes == large.bytes());
  CHECK(plan.later_with_whole == 0);
  CHECK(contains(to_string(plan), "epoch 0 downloads 37.7 MB of 37.7 MB, each later one 37.7 MB"));
  CHECK(count_of(loader, server, 0) == plan.epoch_bytes);
  CHECK(count_of(loader, server, 1) == plan.later_bytes);
  CHECK(loader.plan_downloads().epoch == 1);
}

TEST_CASE("downloads: with room for a part of the data they are those that the server counts",
          "[remote][host]") {
  const std::uint64_t kept = GENERATE(0U, 1U, 2U, 3U, 4U) * large.blocks() / 4 + 2;
  const bool in_memory = GENERATE(false, true);
  const temporary_directory folder;
  const mounted_remote mounted{in_memory ? large.with_memory(kept)
                                         : large.with_folder(folder, kept)};
  http_server server;
  large.put(server, "/a.npy");
  loader loader = loader_of(server, shuffle{});
  const download_plan plan = loader.plan_downloads();
  CAPTURE(kept, in_memory, to_string(plan));
  CHECK(plan.needed_bytes == large.bytes());
  CHECK(is_near(count_of(loader, server, 0), plan.epoch_bytes));
  CHECK(is_near(count_of(loader, server, 1), plan.later_bytes));
  // From the state of the cache, which has what it has room for.
  const download_plan now = loader.plan_downloads();
  CHECK(now.epoch == 1);
  CHECK(is_near(now.epoch_bytes, plan.later_bytes));
  CHECK(is_near(count_of(loader, server, 2), now.epoch_bytes));
}

TEST_CASE("downloads: blocks that an earlier run left are counted, and those of others are not",
          "[remote][host]") {
  const temporary_directory folder;
  http_server server;
  large.put(server, "/a.npy");
  const auto plan_of = [&] {
    loader loader = loader_of(server, shuffle{});
    const download_plan plan = loader.plan_downloads();
    (void)count_of(loader, server, 0);
    detail::object_cache::settle_all();
    return plan;
  };
  {
    const mounted_remote mounted{large.with_folder(folder, large.blocks() + 2)};
    CHECK(is_near(plan_of().epoch_bytes, large.bytes()));
  }
  const mounted_remote mounted{large.with_folder(folder, large.blocks() + 2)};
  CHECK(is_near(plan_of().epoch_bytes, 0));
  // Another version has little room beside the first, whose blocks were used just now.
  server.put("/a.npy", npy_bytes(npy_dictionary("|u1", "(256, 147456)"), numbered(large.bytes())),
             "\"two\"");
  loader loader{
      open(server.address("/a.npy") + "?2"), shuffle{}, make_host_device(), {.readers = 0}};
  const download_plan plan = loader.plan_downloads();
  CHECK(is_near(plan.epoch_bytes, large.bytes()));
  CHECK(plan.later_bytes >= large.bytes() - 3 * large.block_bytes);
}

TEST_CASE("downloads: a block that is on its way is not counted again", "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{large.with_folder(folder, large.blocks() + 2)};
  std::counting_semaphore<> asked{0};  // outlives the server
  std::atomic<bool> stalls = false;
  http_server server;
  large.put(server, "/a.npy");
  server.set_script([&](const http_request&) {
    if (!stalls) return http_fault{};
    asked.release();
    return http_fault{http_fault::kind::stall};
  });
  loader loader = loader_of(server, shuffle{});
  const std::uint64_t before = loader.plan_downloads().epoch_bytes;
  stalls = true;
  bool is_right = false;
  std::thread reads{[&] {
    feedline::loader other = loader_of(server, shuffle{});
    is_right = large.read_epoch(other, 0, large.content());
  }};
  asked.acquire();  // with the claim of at least one block
  const std::uint64_t during = loader.plan_downloads().epoch_bytes;
  server.open_gate();
  reads.join();
  CHECK(is_right);
  CHECK(during + large.block_bytes <= before);
  CHECK(loader.plan_downloads().epoch_bytes == 0);
}

TEST_CASE("downloads: a loader of one epoch keeps nothing, and ranks are counted together",
          "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{large.with_folder(folder, large.blocks() + 2)};
  http_server server;
  large.put(server, "/a.npy");
  const download_plan one = loader_of(server, shuffle{}, 1).plan_downloads();
  CHECK(one.epoch_bytes == large.bytes());
  CHECK(one.later_bytes == 0);
  CHECK(one.whole_cache == 0);
  loader of_rank{open(server.address("/a.npy")),
                 shuffle{},
                 make_host_device(),
                 {.batch_size = 4, .shard = {.rank = 1, .world = 4}, .readers = 0}};
  const download_plan all = of_rank.plan_downloads();
  CHECK(all.needed_bytes == large.bytes());
  CHECK(is_near(all.epoch_bytes, large.bytes()));
  CHECK(is_near(all.later_bytes, 0));
}

/// The halves of the data in turn: epochs that differ.
struct halves {
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const { return samples / 2; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {epoch % 2 * (samples / 2) + first.value + i};
  }
};

TEST_CASE("downloads: a run that continues is planned from the epoch that comes",
          "[remote][host]") {
  const temporary_directory folder;
  const mounted_remote mounted{large.with_folder(folder, large.blocks() / 2 + 2)};
  http_server server;
  large.put(server, "/a.npy");
  loader_state state;
  {
    loader loader = loader_of(server, halves{});
    const download_plan first = loader.plan_downloads();
    CHECK(is_near(count_of(loader, server, 0), first.epoch_bytes));
    state = loader.state();
    detail::object_cache::settle_all();
  }
  loader loader = loader_of(server, halves{});
  CHECK(is_near(loader.plan_downloads().epoch_bytes, 0));
  loader.seek(state);
  const download_plan plan = loader.plan_downloads();
  CHECK(plan.epoch == 1);
  // The block that both halves have bytes of is here.
  CHECK(plan.epoch_bytes >= large.bytes() / 2 - large.block_bytes);
  CHECK(is_near(count_of(loader, server, 1), plan.epoch_bytes));
  CHECK(is_near(count_of(loader, server, 2), plan.later_bytes));
}

TEST_CASE(
    "downloads: with half of the data, half is fetched, and by an LRU nearly all or all of it",
    "[remote]") {
  constexpr std::uint64_t epochs = 4;
  constexpr std::uint64_t block = std::uint64_t{1} << 20;
  const auto downloads = [&](const sampler& order) {
    const simulated_reads reads{1024, block, block, order};
    const detail::download_simulation simulation{reads.tables(epochs + 2), reads.rows, 0, false};
    const auto half = simulation.run({.memory = reads.bytes() / 2}, {}).at(epochs - 1);
    const auto lru = reads.with_lru(reads.bytes() / 2, block, epochs).at(epochs - 1);
    const auto part = [&](std::uint64_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(reads.bytes());
    };
    return std::pair{part(half), part(lru)};
  };
  const auto sequence = downloads(sequential{});
  CHECK(sequence.first == 0.5);
  CHECK(sequence.second == 1);
  const auto shuffled = downloads(shuffle{});
  CHECK(shuffled.first == 0.5);
  // A block stays if few others come between the end of one epoch and the begin of the next.
  CHECK(shuffled.second > 0.8);
}

TEST_CASE("downloads: nothing is known of files of this machine", "[host]") {
  const mounted_remote mounted;
  const temporary_directory folder;
  const auto path = folder.path() / "a.npy";
  std::ofstream{path, std::ios::binary} << "";
  const auto bytes = npy_bytes(npy_dictionary("|u1", "(16, 16)"), numbered(256));
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
  const loader loader{open(path.string()), shuffle{}, make_host_device(), {}};
  CHECK(loader.plan_downloads() == download_plan{});
  CHECK(to_string(loader.plan_downloads()).empty());
}

TEST_CASE("downloads: the verdict says what a larger cache brings, and it does", "[remote][host]") {
  http_server server;
  large.put(server, "/a.npy");
  // Bounded by requests, one after the other: a consumer that computes nothing waits for them.
  server.set_latency(20ms);
  download_plan plan;
  {
    const temporary_directory folder;
    remote_options options = large.with_folder(folder, large.blocks() / 4);
    options.read_ahead_bytes = 0;
    const mounted_remote mounted{options};
    loader loader{open(server.address("/a.npy")),
                  shuffle{},
                  make_host_device(),
                  {.batch_size = 4, .readers = 1, .expert = {.request_bytes = 1}}};
    (void)count_of(loader, server, 0);
    const auto seen = loader.statistics();
    const auto verdict = judge(seen);
    plan = seen.downloads;
    CAPTURE(verdict.evidence, verdict.next, to_string(plan));
    REQUIRE(plan.is_known);
    CHECK(verdict.limit == bottleneck::storage);
    CHECK(contains(verdict.evidence, "waiting for the network; epoch 0 downloads"));
    CHECK(contains(verdict.next,
                   "a larger cache (remote_options::cache): each later epoch downloads 0 B with "));
    CHECK(contains(report(seen), "\ndownload epoch 0 downloads "));
    CHECK(contains(to_json(seen), "\"later_with_whole\": 0"));
    (void)count_of(loader, server, 1);
    const download_plan next = loader.statistics().downloads;
    CHECK(next == loader.plan_downloads());
    CHECK(next.epoch == 1);
  }
  server.set_latency(0ms);
  REQUIRE(plan.larger_cache == 2 * plan.cache_bytes);
  CHECK(plan.later_with_larger < plan.later_bytes);
  for (const auto& [bytes, later] : {std::pair{plan.larger_cache, plan.later_with_larger},
                                     std::pair{plan.whole_cache, plan.later_with_whole}}) {
    const temporary_directory folder;
    remote_options options = large.with_folder(folder, 1);
    options.cache.folder_bytes = bytes;
    const mounted_remote mounted{options};
    loader loader = loader_of(server, shuffle{});
    (void)count_of(loader, server, 0);
    CHECK(is_near(count_of(loader, server, 1), later));
  }
}

TEST_CASE("downloads: the cache that a loader without one is told about does what it says",
          "[remote][host]") {
  http_server server;
  large.put(server, "/a.npy");
  std::optional<download_plan> plan;
  {
    const mounted_remote mounted;
    plan = loader_of(server, sequential{}).plan_downloads();
  }
  REQUIRE(plan->whole_cache != 0);
  REQUIRE(plan->larger_cache != 0);
  for (const auto& [bytes, later] : {std::pair{plan->larger_cache, plan->later_with_larger},
                                     std::pair{plan->whole_cache, plan->later_with_whole}}) {
    const temporary_directory folder;
    const mounted_remote mounted{
        {.second_requests = false,
         .cache = {.folder = folder.path() / "cache", .folder_bytes = bytes}}};  // usual blocks
    loader loader = loader_of(server, sequential{});
    (void)count_of(loader, server, 0);
    CHECK(is_near(count_of(loader, server, 1), later));
  }
}
