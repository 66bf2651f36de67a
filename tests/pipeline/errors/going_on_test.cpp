/// After a stage_error, a seek continues past the unavailable batch, with the same threads and
/// slots. If delivery has ended, it is refused.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t samples = 64;

/// Takes epochs to their end; at each error it seeks past the unavailable batch.
/// @param failed Gets those batches.
batch_log take_past_errors(loader& loader, const path_setup& by, std::uint64_t epochs,
                           std::vector<std::pair<std::uint64_t, std::uint64_t>>& failed) {
  batch_log log;
  for (std::uint64_t epoch = 0; epoch < epochs;) {
    recorder record{by.looks()};
    bool has_ended = false;
    try {
      for (batch& batch : loader.epoch(epoch, by.stream)) record(batch);
      has_ended = true;
    } catch (const stage_error& failure) {
      failed.emplace_back(failure.where().epoch, failure.where().batch);
    }
    for (const seen_batch& each : record.seen()) {
      CHECK(each.intact);
      log.batches.push_back(each.samples);
    }
    if (has_ended) {
      ++epoch;
      continue;
    }
    loader_state state = loader.state();
    CHECK(std::pair{state.epoch, state.batch} == failed.back());
    ++state.batch;
    loader.seek(state);
  }
  return log;
}

}  // namespace

TEST_CASE("going on: a seek past a bad batch delivers all others, again and again, on every path",
          "[loader][host]") {
  const log_capture unheard;
  const path_setup by{GENERATE(from_range(reading_data_paths()))};
  const int readers = GENERATE(0, 1, 3);
  const std::uint64_t batches_per_slot = GENERATE(1U, 3U);
  const std::uint64_t epochs_told = GENERATE(0U, 3U);
  CAPTURE(to_string(by.through), readers, batches_per_slot, epochs_told);
  const sampler order = shuffle{.seed = 3};
  const sample_set bad{0, 17, 40};
  loader loader = by.load(make_bad_rows(samples, bad), order,
                          {.batch_size = 4,
                           .epochs = epochs_told,
                           .readers = readers,
                           .expert = {.batches_per_slot = batches_per_slot}});
  std::vector<std::vector<std::uint64_t>> good;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto batches = in_batches(order_of_epoch(order, samples, epoch), 4);
    for (std::uint64_t i = 0; i < batches.size(); ++i) {
      const bool fails = std::ranges::any_of(
          batches[i], [&](std::uint64_t sample) { return bad.count(sample) != 0; });
      if (fails)
        expected.emplace_back(epoch, i);
      else
        good.push_back(batches[i]);
    }
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failed;
  CHECK(take_past_errors(loader, by, 3, failed).batches == good);
  CHECK(failed == expected);
}

TEST_CASE(
    "going on: until the seek every step throws the error, and epochs asked for before it are "
    "abandoned",
    "[loader][host]") {
  const path_setup by{GENERATE(from_range(reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader loader =
      by.load(make_bad_rows(samples, {9}), sequential{}, {.batch_size = 4, .readers = readers});
  auto range = loader.epoch(0, by.stream);
  auto ahead = loader.epoch(1, by.stream);
  std::optional<batch> held;
  for (int i = 0; i < 2; ++i) held = range.next();
  const std::string first = message_of<stage_error>([&] { (void)range.next(); });
  CHECK(first.find("sample 9") != std::string::npos);
  CHECK(message_of<stage_error>([&] { (void)range.next(); }) == first);
  CHECK(message_of<stage_error>([&] { (void)ahead.next(); }) == first);
  auto behind = loader.epoch(2, by.stream);
  CHECK(message_of<stage_error>([&] { (void)behind.next(); }) == first);
  loader_state state = loader.state();
  CHECK(state.batch == 2);
  state.batch = 3;
  loader.seek(state);
  for (epoch_range* const each : {&range, &ahead, &behind})
    CHECK(message_of<usage_error>([&] { (void)each->next(); }).find("abandoned") !=
          std::string::npos);
  CHECK(held->index() == 1);  // and stays valid
  auto rest = loader.epoch(0, by.stream);
  const auto next = rest.next();
  REQUIRE(next);
  CHECK(next->index() == 3);
}

TEST_CASE("going on: nothing is read between the error and the seek", "[reader][host]") {
  const path_setup by{data_path::stream};
  std::atomic<bool> is_over{false};
  std::atomic<int> late{0};
  const auto data = gated(make_identity_rows(samples, 8), [&](std::span<const sample_index> run) {
    if (is_over) ++late;
    if (run.front().value == 0) throw dataset_error{{}, "bad"};
  });
  loader loader = by.load(data, sequential{}, {.batch_size = 4, .readers = no_readers});
  auto range = loader.epoch(0, by.stream);
  CHECK_THROWS_AS((void)range.next(), stage_error);
  is_over = true;
  auto other = loader.epoch(1, by.stream);
  for (int i = 0; i < 8; ++i) CHECK_THROWS_AS((void)other.next(), stage_error);
  CHECK(late == 0);
}

TEST_CASE("going on: if delivery has ended, a seek is refused with the reason and the remedy",
          "[loader][host]") {
  const int readers = GENERATE(0, 2);
  const path_setup by{data_path::stream};
  loader loader = by.load(make_identity_rows(samples, 8), sequential{},
                          {.batch_size = 4, .readers = readers, .expert = {.batches_per_slot = 1}});
  auto range = loader.epoch(0, by.stream);
  const loader_state state = loader.state();
  by.on.device->fail_call(device_call::is_done, 1, 1U << 20U);
  CHECK_THROWS_AS(
      [&] {
        while (range.next()) {
        }
      }(),
      stage_error);
  const std::string refusal = message_of<usage_error>([&] { loader.seek(state); });
  CHECK(refusal.find(
            "loader::seek: this loader cannot continue, because its delivery has ended: the ") ==
        0);
  CHECK(refusal.find("; make a new loader, and seek with that one") != std::string::npos);
}

TEST_CASE("going on: a batch transform that threw is not called again before the consumer knows",
          "[transfer][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  const int readers = GENERATE(0, 2);
  const std::uint64_t epochs = GENERATE(0U, 2U);
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> calls;
  bool throws = true;
  const batch_transform once{
      .fields = {{"id", element_type::u64, {}}}, .run = [&](const batch_function_call& call) {
        const std::scoped_lock lock{mutex};
        calls.emplace_back(call.epoch, call.index);
        if (call.index == 2 && std::exchange(throws, false)) throw std::runtime_error{"no kernel"};
        by.on.device->launch(call.stream, [from = call.in[0].bytes(), to = call.out[0]] {
          std::memcpy(to.data(), from.data(), from.size());
        });
      }};
  // Two staging slots: as the last batch is read, the transfer has been at all but two before it.
  std::atomic<bool> is_read{false};
  const auto data = gated(make_identity_rows(16, 8), [&](std::span<const sample_index> run) {
    if (run.back().value != 15) return;
    is_read = true;
    is_read.notify_all();
  });
  loader loader = by.load(data, sequential{},
                          {.batch_size = 1,
                           .epochs = epochs,
                           .readers = readers,
                           .expert = {.batches_per_slot = 1,
                                      .staging_slots = 2,
                                      .device_slots = 16,
                                      .batch_transform = once}});
  auto range = loader.epoch(0, by.stream);
  if (readers != 0) is_read.wait(false);
  for (int i = 0; i < 2; ++i) CHECK(range.next());
  CHECK(message_of<stage_error>([&] { (void)range.next(); }).find("no kernel") !=
        std::string::npos);
  {
    const std::scoped_lock lock{mutex};
    CHECK(calls == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {0, 1}, {0, 2}});
    calls.clear();
  }
  loader_state state = loader.state();
  ++state.batch;
  loader.seek(state);
  auto rest = loader.epoch(0, by.stream);
  for (std::uint64_t i = 3; i < 16; ++i) CHECK(rest.next().value().index() == i);
  CHECK_FALSE(rest.next());
  const std::scoped_lock lock{mutex};
  CHECK(calls.front() == std::pair<std::uint64_t, std::uint64_t>{0, 3});
}

TEST_CASE("going on: an epoch that is left before its failure holds no later one up",
          "[transfer][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  std::atomic<bool> throws{true};
  const batch_transform function{
      .fields = {{"id", element_type::u64, {}}}, .run = [&](const batch_function_call& call) {
        if (call.epoch == 0 && call.index == 2 && throws) throw std::runtime_error{"no kernel"};
        by.on.device->launch(call.stream, [from = call.in[0].bytes(), to = call.out[0]] {
          std::memcpy(to.data(), from.data(), from.size());
        });
      }};
  const int ends = GENERATE(0, 1, 2);
  loader loader =
      by.load(make_identity_rows(16, 8), sequential{},
              {.batch_size = 4,
               .epochs = 2,
               .readers = GENERATE(0, 2),
               .expert = {.batches_per_slot = 1, .device_slots = 8, .batch_transform = function}});
  std::optional<epoch_range> left{loader.epoch(0, by.stream)};
  CHECK(left->next());
  if (ends == 1) left.reset();
  if (ends == 2) {
    loader.stop();  // the transfer's thread ends too, though no consumer met the failure
    return;
  }
  auto next = loader.epoch(1, by.stream);
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(next.next().value().index() == i);
  CHECK_FALSE(next.next());
}
