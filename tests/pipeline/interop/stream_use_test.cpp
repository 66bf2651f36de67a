/// Batches that are used on other streams than the one they were taken on: both edges of each of
/// these streams, proved by held copies and held work, and by devices that forget them.

#include <feedline/backend/device.hpp>
#include <feedline/batch/stream_use.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "device/deferred_free.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/forgetful_device.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/wrapped_device.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batch_size = 8;

loader_options two_slots(std::uint64_t batches_per_slot = 1) {
  return {.batch_size = batch_size,
          .readers = 1,
          .expert = {.batches_per_slot = batches_per_slot, .staging_slots = 2, .device_slots = 2}};
}

/// A device with the consumer's stream and a further one, and what is seen on each.
struct two_streams {
  explicit two_streams(forgotten edge = forgotten::nothing)
      : device{std::make_shared<forgetful_device>(on.device, further, edge)} {}

  scripted on;
  stream_ref further = on.device->make_stream();
  device_ptr device;
  recorder record{on};
  recorder record_further{scripted{on.device, further}};

  loader load(std::uint64_t batches, std::uint64_t batches_per_slot = 1) const {
    return loader{make_identity_dataset(batches * batch_size, 16), sequential{}, device,
                  two_slots(batches_per_slot)};
  }
};

/// A device one of whose streams has its name on the calling thread alone.
class per_thread_device final : public wrapped_device {
 public:
  per_thread_device(device_ptr real, stream_ref per_thread, stream_ref legacy)
      : wrapped_device{std::move(real)}, per_thread_{per_thread}, legacy_{legacy} {}

  [[nodiscard]] stream_ref for_any_thread(stream_ref stream) const override {
    return stream == per_thread_ ? legacy_ : stream;
  }
  void record(event_handle event, stream_ref stream) override {
    {
      const std::scoped_lock lock{mutex_};
      ++records_[stream.get()];
    }
    wrapped_device::record(event, stream);
  }
  [[nodiscard]] std::size_t records_on(stream_ref stream) const {
    const std::scoped_lock lock{mutex_};
    const auto found = records_.find(stream.get());
    return found == records_.end() ? 0 : found->second;
  }

 private:
  stream_ref per_thread_;
  stream_ref legacy_;
  mutable std::mutex mutex_;
  std::map<void*, std::size_t> records_;
};

std::shared_ptr<const batch> shared(optional_batch taken) {
  REQUIRE(taken);
  return std::make_shared<const batch>(std::move(*taken));
}

/// The copy of a batch is held until the look at it is issued on the further stream.
std::vector<seen_batch> use_with_held_copy(forgotten edge) {
  two_streams by{edge};
  loader loader = by.load(1);
  by.on.device->hold_copies();
  auto range = loader.epoch(0, by.on.stream);
  const stream_use use{shared(range.next()), by.further};
  by.record_further(*use);
  by.on.device->wait_for_started_copies(1);
  if (edge == forgotten::consumer_waits_for_copy) by.on.device->drain(by.further);
  by.on.device->allow_all_copies();
  return by.record_further.seen();
}

/// Work on the further stream is held while two uses end, and the slots are to be filled again.
std::vector<seen_batch> end_with_held_work(forgotten edge) {
  two_streams by{edge};
  loader loader = by.load(8);
  auto range = loader.epoch(0, by.on.stream);
  by.on.device->hold_work();
  for (int i = 0; i < 2; ++i) {
    const stream_use use{shared(range.next()), by.further};
    by.record_further(*use);
  }
  by.on.device->wait_for_issued_copies(4);
  if (edge == forgotten::copy_waits_for_consumer) by.on.device->wait_for_started_copies(4);
  by.on.device->allow_all_work();
  while (auto batch = range.next()) {
    const stream_use use{shared(std::move(batch)), by.further};
    by.record_further(*use);
  }
  return by.record_further.seen();
}

}  // namespace

TEST_CASE("stream use: work on a further stream sees the batch whole though its copy is held",
          "[batch][host]") {
  CHECK(in_order_and_intact(use_with_held_copy(forgotten::nothing)));
}

TEST_CASE("stream use: the test of its first edge fails on a device that forgets it",
          "[batch][host]") {
  CHECK_FALSE(in_order_and_intact(use_with_held_copy(forgotten::consumer_waits_for_copy)));
}

TEST_CASE("stream use: a slot is not filled again before the work of a slow further stream",
          "[batch][host]") {
  const auto seen = end_with_held_work(forgotten::nothing);
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("stream use: the test of its second edge fails on a device that forgets it",
          "[batch][host]") {
  CHECK_FALSE(in_order_and_intact(end_with_held_work(forgotten::copy_waits_for_consumer)));
}

TEST_CASE("stream use: it waits for the pending work of the consumer's stream on the batch",
          "[batch][host]") {
  two_streams by;
  loader loader = by.load(1);
  auto range = loader.epoch(0, by.on.stream);
  const auto batch = shared(range.next());
  by.on.device->hold_work();
  bool written = false;
  bool seen_written = false;
  by.on.device->launch(by.on.stream, [&] { written = true; });
  const stream_use use{batch, by.further};
  by.on.device->favour_young_streams();
  by.on.device->launch(by.further, [&] { seen_written = written; });
  by.on.device->allow_all_work();
  by.on.device->drain(by.further);
  CHECK(seen_written);
}

TEST_CASE("stream use: the consumer's stream does not wait for work on the further one",
          "[batch][host]") {
  two_streams by;
  loader loader = by.load(8);
  auto range = loader.epoch(0, by.on.stream);
  by.on.device->hold_work();
  {
    const stream_use use{shared(range.next()), by.further};
    by.record_further(*use);
  }
  const event_handle mark = by.on.device->make_event();
  by.on.device->record(mark, by.on.stream);
  by.on.device->sync(mark);  // throws after a long while
  by.on.device->allow_all_work();
  by.on.device->destroy_event(mark);
  CHECK(in_order_and_intact(by.record_further.seen()));
}

TEST_CASE("stream use: a slot waits for the consumer's own work, too, where further ones are done",
          "[batch][host]") {
  two_streams by;
  loader loader = by.load(8);
  auto range = loader.epoch(0, by.on.stream);
  by.on.device->hold_work();
  for (int i = 0; i < 2; ++i) {
    const stream_use use{shared(range.next()), by.further};
    by.record(*use);  // issued after the mark that the further stream waits for
  }
  by.on.device->wait_for_issued_copies(4);
  CHECK(by.on.device->started_copies() == 2);
  by.on.device->allow_all_work();
  while (auto batch = range.next()) by.record(*batch);
  const auto seen = by.record.seen();
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("stream use: a later batch of the slot does not make it forget the further stream",
          "[batch][host]") {
  two_streams by;
  loader loader = by.load(16, 2);
  auto range = loader.epoch(0, by.on.stream);
  by.on.device->hold_work();
  {
    const stream_use use{shared(range.next()), by.further};
    by.record_further(*use);
  }
  REQUIRE(range.next());  // the slot's second batch: its end marks it again
  for (int i = 0; i < 2; ++i) REQUIRE(range.next());  // the other slot
  by.on.device->wait_for_issued_copies(3);
  by.on.device->allow_all_work();
  while (auto batch = range.next()) by.record(*batch);
  CHECK(in_order_and_intact(by.record_further.seen()));
  CHECK(by.record.seen().size() == 12);
  CHECK(all_intact(by.record.seen()));
}

TEST_CASE("stream use: several streams and threads share a batch, and the last one frees it",
          "[batch][host]") {
  two_streams by;
  const stream_ref third = by.on.device->make_stream();
  recorder record_third{scripted{by.on.device, third}};
  loader loader = by.load(64, 4);
  auto range = loader.epoch(0, by.on.stream);
  while (auto taken = range.next()) {
    auto batch = shared(std::move(taken));
    std::thread other{[use = stream_use{batch, by.further}, &by]() mutable {
      by.record_further(*use);
      const stream_use ends = std::move(use);
    }};
    {
      const stream_use use{batch, third};
      record_third(*use);
    }
    by.record(*batch);
    batch.reset();
    other.join();
  }
  for (recorder* each : {&by.record, &by.record_further, &record_third}) {
    const auto seen = each->seen();
    CHECK(seen.size() == 64);
    CHECK(in_order_and_intact(seen));
  }
}

TEST_CASE("stream use: other threads end uses while the consumer begins some in the same slot",
          "[batch][host]") {
  two_streams by;
  loader loader = by.load(64, 4);
  auto range = loader.epoch(0, by.on.stream);
  std::vector<std::thread> enders;
  while (auto taken = range.next()) {
    stream_use use{shared(std::move(taken)), by.further};
    by.record_further(*use);
    enders.emplace_back(
        [ended = std::move(use)]() mutable { const stream_use ends{std::move(ended)}; });
  }
  for (std::thread& each : enders) each.join();
  const auto seen = by.record_further.seen();
  CHECK(seen.size() == 64);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("stream use: on the batch's own stream it only holds the batch", "[batch][host]") {
  two_streams by;
  loader loader = by.load(4);
  auto range = loader.epoch(0, by.on.stream);
  const std::size_t handles = by.on.device->handles();
  {
    const stream_use use{shared(range.next()), by.on.stream};
    by.record(*use);
    CHECK(use.stream() == by.on.stream);
    CHECK(use->index() == 0);
  }
  CHECK(by.on.device->handles() == handles);
  while (auto batch = range.next()) by.record(*batch);
  CHECK(in_order_and_intact(by.record.seen()));
}

TEST_CASE("stream use: assigned another one, it ends the first", "[batch][host]") {
  two_streams by;
  loader loader = by.load(8);
  auto range = loader.epoch(0, by.on.stream);
  by.on.device->hold_work();
  stream_use use{shared(range.next()), by.further};
  by.record_further(*use);
  for (int i = 1; i < 8; ++i) {  // more batches than slots
    use = stream_use{shared(range.next()), by.further};
    by.record_further(*use);
    if (i != 3) continue;
    by.on.device->wait_for_issued_copies(4);
    CHECK(by.on.device->started_copies() == 2);
    by.on.device->allow_all_work();
  }
  use = std::move(*std::make_unique<stream_use>(std::move(use)));
  CHECK(in_order_and_intact(by.record_further.seen()));
}

TEST_CASE("stream use: impossible uses are refused, and leave the batch unchanged",
          "[batch][host]") {
  two_streams by;
  loader loader = by.load(4);
  auto range = loader.epoch(0, by.on.stream);
  const auto batch = shared(range.next());
  CHECK(message_of<usage_error>([&] {
          (void)stream_use{nullptr, by.further};
        }) == "a stream_use was made without a batch");
  CHECK(message_of<usage_error>([&] {
          (void)stream_use{batch, stream_ref{}};
        }) == "the scripted device needs a stream");
  by.record(*batch);
  CHECK(in_order_and_intact(by.record.seen()));
}

TEST_CASE("stream use: if the device refuses its end, the loader fails and frees nothing in use",
          "[batch][host]") {
  const auto call = GENERATE(device_call::is_capturing, device_call::record, device_call::wait);
  two_streams by;
  {
    loader loader = by.load(3);
    auto range = loader.epoch(0, by.on.stream);
    std::optional<stream_use> use{std::in_place, shared(range.next()), by.further};
    const auto second = range.next();
    REQUIRE(second);
    by.on.device->hold_work();
    by.record_further(**use);
    by.on.device->fail_call(call, 1);  // the transfer waits for a slot, and makes no call
    use.reset();
    CHECK_THROWS_AS((void)range.next(), stage_error);
  }
  detail::free_deferred();
  CHECK(by.on.device->freed_in_use() == 0);
  by.on.device->allow_all_work();
  CHECK(in_order_and_intact(by.record_further.seen()));
}

TEST_CASE("stream use: if the device refuses to begin it, there is none", "[batch][host]") {
  const auto call = GENERATE(device_call::is_capturing, device_call::make_stream,
                             device_call::make_event, device_call::record, device_call::wait);
  two_streams by;
  loader loader = by.load(3);
  auto range = loader.epoch(0, by.on.stream);
  const auto other = range.next();
  auto batch = shared(range.next());
  by.on.device->fail_call(call, 1);
  CHECK_THROWS_AS((stream_use{batch, by.further}), device_error);
  { const stream_use again{std::move(batch), by.further}; }
  CHECK(range.next());
}

TEST_CASE("stream use: a stream of the thread's own is marked by another name on other threads",
          "[batch][host]") {
  const bool same_thread = GENERATE(false, true);
  const scripted on;
  const stream_ref per_thread = on.device->make_stream();
  const stream_ref legacy = on.device->make_stream();
  const auto device = std::make_shared<per_thread_device>(on.device, per_thread, legacy);
  loader loader{make_identity_dataset(2 * batch_size, 16), sequential{}, device, two_slots()};
  auto range = loader.epoch(0, on.stream);
  std::optional<stream_use> use{std::in_place, shared(range.next()), per_thread};
  std::optional<batch> taken;
  auto own = loader.epoch(1, per_thread);
  taken.emplace(std::move(*own.next()));
  const auto end_both = [&] {
    use.reset();
    taken.reset();
  };
  const std::size_t before = device->records_on(per_thread);
  same_thread ? end_both() : std::thread{end_both}.join();
  CHECK(device->records_on(per_thread) - before == (same_thread ? 2 : 0));
  CHECK(device->records_on(legacy) == (same_thread ? 0 : 2));
}
