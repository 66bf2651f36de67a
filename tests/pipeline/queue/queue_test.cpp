/// Queues of samples through the whole pipeline: batches of what is there, each sample once.

#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/queue/queue_dataset.hpp>
#include <feedline/sampler/sequential.hpp>

#include "pipeline/queue/queued_samples.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

TEST_CASE("queue: batches are full while samples wait, and the last one is as long as it is",
          "[loader][host]") {
  const queue_ptr queue = make_queue();
  put_all(*queue, 0, 10);
  queue->close();
  CHECK(put(*queue, 99) == put_result::closed);
  loader loader = make_loader(queue);
  CHECK(rest_of(loader) == id_lists{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  CHECK(rest_of(loader, 1).empty());
  CHECK(queue->waiting() == 0);
  CHECK(queue->in_flight() == 0);
}

TEST_CASE("queue: without delay a batch has what is there, though more samples follow",
          "[loader][host]") {
  const queue_ptr queue = make_queue({.max_delay = 0us});
  loader loader = make_loader(queue);
  auto batches = loader.epoch(0);
  std::uint64_t id = 0;
  for (const std::uint64_t count : {3U, 1U, 2U}) {
    std::vector<std::uint64_t> seen;
    put_all(*queue, id, id + count);
    while (seen.size() < count) {  // the reader may come between two puts
      const auto batch = batches.next();
      REQUIRE(batch);
      for (const std::uint64_t each : ids_of(*batch)) seen.push_back(each);
    }
    for (std::uint64_t i = 0; i < count; ++i) CHECK(seen[i] == id + i);
    id += count;
  }
}

TEST_CASE("queue: a batch that is not full is delivered after max_delay", "[loader][host]") {
  const queue_ptr queue = make_queue({.max_delay = 20ms});
  loader loader = make_loader(queue);
  auto batches = loader.epoch(0);
  const auto begun = std::chrono::steady_clock::now();
  put_all(*queue, 0, 3);
  std::vector<std::uint64_t> seen;
  while (seen.size() < 3)
    for (const std::uint64_t each : ids_of(*batches.next())) seen.push_back(each);
  CHECK(std::chrono::steady_clock::now() - begun >= 20ms);
  CHECK(seen == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("queue: a wait for samples ends at a deadline, by a stop, and by stop() of the loader",
          "[loader][host]") {
  const queue_ptr queue = make_queue();
  loader loader = make_loader(queue);
  auto batches = loader.epoch(0);
  CHECK_THROWS_AS((void)batches.next(std::chrono::steady_clock::now()), deadline_error);
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(batches.next(stop.get_token()));
  put_all(*queue, 0, 4);
  CHECK(ids_of(*batches.next()) == std::vector<std::uint64_t>{0, 1, 2, 3});
  std::thread other{[&] { loader.stop(); }};
  CHECK_FALSE(batches.next());
  other.join();
}

TEST_CASE("queue: a reader that waits for samples does not read", "[loader][host]") {
  const queue_ptr queue = make_queue();
  loader loader = make_loader(queue);
  auto batches = loader.epoch(0);
  put_all(*queue, 0, 4);
  REQUIRE(batches.next());
  const auto limit = std::chrono::steady_clock::now() + 5s;
  while (loader.statistics().reader.starved < 50ms && std::chrono::steady_clock::now() < limit)
    std::this_thread::yield();
  const loader_statistics seen = loader.statistics();
  CHECK(seen.live);
  CHECK(seen.reader.starved >= 50ms);
  CHECK(contains(
      message_of<deadline_error>([&] { (void)batches.next(std::chrono::steady_clock::now()); }),
      "the queue is empty, or its max_delay is not over"));
}

TEST_CASE("queue: producers wait while it is full, and end by room, close, stop and deadline",
          "[loader][host]") {
  const queue_ptr queue = make_queue({.capacity = 4, .max_delay = 24h});
  put_all(*queue, 0, 4);
  CHECK(put(*queue, 4, {.deadline = std::chrono::steady_clock::now()}) == put_result::full);
  std::stop_source stop;
  stop.request_stop();
  CHECK(put(*queue, 4, {.stop = stop.get_token()}) == put_result::full);
  put_result of_other{};
  std::thread other{[&] { of_other = put(*queue, 4); }};
  {
    loader loader = make_loader(queue);
    auto batches = loader.epoch(0);
    CHECK(ids_of(*batches.next()) == std::vector<std::uint64_t>{0, 1, 2, 3});
    other.join();
    CHECK(of_other == put_result::accepted);
  }
  put_all(*queue, 5, 8);
  std::thread third{[&] { of_other = put(*queue, 8); }};
  queue->close();
  third.join();
  CHECK(of_other == put_result::closed);
  loader loader = make_loader(queue);
  CHECK(rest_of(loader) == id_lists{{4, 5, 6, 7}});
}

TEST_CASE("queue: a batch larger than the queue is delivered when the queue is full",
          "[loader][host]") {
  const queue_ptr queue = make_queue({.capacity = 3, .max_delay = 24h});
  loader loader = make_loader(queue, 8);
  auto batches = loader.epoch(0);
  put_all(*queue, 0, 3);
  CHECK(ids_of(*batches.next()) == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("queue: what was not handed out comes again, in the next epoch and from another loader",
          "[loader][host]") {
  const queue_ptr queue = make_queue();
  put_all(*queue, 0, 40);
  {
    loader loader = make_loader(queue);
    for (const batch& each : loader.epoch(0)) {
      CHECK(ids_of(each).front() == 0);
      break;  // others are on their way by now, or will be
    }
    auto batches = loader.epoch(1);
    CHECK(ids_of(*batches.next()) == std::vector<std::uint64_t>{4, 5, 6, 7});
    loader_state state = loader.state();
    state.epoch = 3;
    state.batch = 2;
    loader.seek(state);
    auto later = loader.epoch(3);
    CHECK(ids_of(*later.next()) == std::vector<std::uint64_t>{8, 9, 10, 11});
    CHECK(loader.state().batch == 3);
  }
  CHECK(queue->waiting() == 28);
  queue->close();
  loader loader = make_loader(queue, 16);
  const auto rest = rest_of(loader);
  REQUIRE(rest.size() == 2);
  CHECK(rest[0].front() == 12);
  CHECK(rest[1].back() == 39);
}

TEST_CASE("queue: a failing copy ends the pass, and its samples come again", "[loader][host]") {
  const queue_ptr queue = make_queue();
  put_all(*queue, 0, 12);
  queue->close();
  std::vector<std::uint64_t> seen;
  {
    const scripted on;
    loader loader{queue, sequential{}, on.device, {.batch_size = 4}};
    on.device->fail_call(device_call::copy, 2);
    try {
      for (const batch& each : loader.epoch(0, on.stream)) seen.resize(seen.size() + each.size());
      FAIL("no error came");
    } catch (const stage_error&) {
      CHECK(seen.size() < 12);
    }
  }
  CHECK(queue->waiting() == 12 - seen.size());
  loader loader = make_loader(queue);
  std::size_t rest = 0;
  for (const auto& each : rest_of(loader)) rest += each.size();
  CHECK(rest + seen.size() == 12);
}

TEST_CASE("queue: each sample of several producers comes once, however loops and producers end",
          "[loader][host]") {
  constexpr std::uint64_t producers = 4;
  constexpr std::uint64_t each_puts = 500;
  const queue_ptr queue = make_queue({.capacity = 64, .max_delay = 50us});
  std::vector<std::thread> threads;
  std::vector<queue_producer> handles;
  for (std::uint64_t p = 0; p < producers; ++p) handles.emplace_back(queue);
  std::atomic<std::uint64_t> accepted{0};
  for (std::uint64_t p = 0; p < producers; ++p)
    threads.emplace_back([&, mine = std::move(handles[p]), p]() mutable {
      const queue_producer own = std::move(mine);
      try {
        for (std::uint64_t i = 0; i < each_puts; ++i) {
          if (p == 1 && i == 123) throw std::runtime_error{"this producer dies"};
          const std::uint64_t id = p * each_puts + i;
          const auto row = row_of(id);
          const std::array<std::span<const std::byte>, 2> values{std::as_bytes(std::span{&id, 1}),
                                                                 row};
          if (own.put(values) == put_result::accepted) ++accepted;
        }
      } catch (const std::runtime_error&) {  // the others continue
      }
    });
  std::multiset<std::uint64_t> seen;
  std::vector<std::uint64_t> last(producers, 0);
  bool in_order = true;
  std::uint64_t epoch = 0;
  for (int round = 0;; ++round) {
    loader loader = make_loader(queue, 8);
    bool ended = false;
    for (int passes = 0; passes < 3 && !ended; ++passes) {
      auto batches = loader.epoch(epoch++);
      for (int i = 0; i < 11 + round; ++i) {
        const auto batch = batches.next();
        if (!batch) {
          ended = true;
          break;
        }
        CHECK(batch->size() >= 1);
        for (const std::uint64_t id : ids_of(*batch)) {
          seen.insert(id);
          std::uint64_t& before = last[id / each_puts];
          in_order = in_order && id % each_puts >= before;
          before = id % each_puts;
        }
      }
    }
    if (ended) break;
  }
  for (std::thread& each : threads) each.join();
  CHECK(in_order);
  CHECK(accepted == producers * each_puts - (each_puts - 123));
  CHECK(seen.size() == accepted);
  CHECK(std::set<std::uint64_t>(seen.begin(), seen.end()).size() == seen.size());
}

TEST_CASE("queue: transforms are applied to partial batches, by readers", "[loader][host]") {
  const queue_ptr queue = make_queue({.max_delay = 0us});
  loader loader{queue,
                sequential{},
                make_host_device(),
                {.batch_size = 8, .transforms = {{.field = "row", .mean = {1}, .stddev = {2}}}}};
  put_all(*queue, 0, 3);
  queue->close();
  std::uint64_t id = 0;
  for (const batch& each : loader.epoch(0)) {
    const auto bytes = each["row"].bytes();
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    REQUIRE(values.size() == 24 * each.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(values[i] == (value_of(row_of(id + i / 24)[i % 24]) - 1) / 2);
    id += each.size();
  }
  CHECK(id == 3);
}

TEST_CASE("queue: a device assembles partial batches, and copies as many rows as came",
          "[loader][host]") {
  const queue_ptr queue = make_queue({.max_delay = 0us});
  const bool converts = GENERATE(false, true);
  const scripted on;
  loader_options options{.batch_size = 8};
  if (converts) options.transforms = {{.field = "row", .mean = {1}, .stddev = {2}}};
  loader loader{queue, sequential{}, on.device, options};
  std::uint64_t id = 0;
  auto batches = loader.epoch(0, on.stream);
  for (const std::uint64_t count : {3U, 8U, 1U, 13U}) {
    put_all(*queue, id, id + count);
    for (const std::uint64_t end = id + count; id < end;) {
      const auto each = batches.next();
      REQUIRE(each);
      on.device->drain(on.stream);
      const auto ids = (*each)["id"].bytes();
      const auto rows = (*each)["row"].bytes();
      REQUIRE(ids.size() == 8 * each->size());
      REQUIRE(rows.size() == 24 * (converts ? 4 : 1) * each->size());
      for (std::size_t i = 0; i < each->size(); ++i, ++id) {
        CHECK(std::memcmp(ids.data() + 8 * i, &id, 8) == 0);
        if (converts) {
          float first = 0;
          std::memcpy(&first, rows.data() + 96 * i, sizeof first);
          CHECK(first == (value_of(row_of(id)[0]) - 1) / 2);
        } else {
          CHECK(std::ranges::equal(rows.subspan(24 * i, 24), row_of(id)));
        }
      }
    }
  }
}
