#include "transfer/transfer.hpp"

#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/stages.hpp"
#include "transfer/slot_transfer.hpp"

#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::device_call;
using feedline::test::make_identity_dataset;
using feedline::test::recorded_call;
using feedline::test::recording_device;
using feedline::test::scripted_device;
using feedline::test::stages;

namespace {

/// 18 samples in batches of 4 4 4 | 4 2, rings of 2 slots.
const loader_options small{
    .batch_size = 4, .expert = {.batches_per_slot = 3, .staging_slots = 2, .device_slots = 2}};

template <class Device>
struct transferring {
  std::shared_ptr<Device> device = std::make_shared<Device>();
  stages parts{device, make_identity_dataset(18, 8), small};
  transfer under_test{
      std::make_unique<copy_transfer>(device, parts.format->layout, parts.format->layout),
      parts.staging, parts.ring};
  std::shared_ptr<epoch_pass> pass = std::make_shared<epoch_pass>(4);

  staging_slot& staged(slot_index slot) { return (*parts.staging)[slot]; }
  staging_state state(slot_index slot) { return staged(slot).state.load(); }
  std::string failure() const { return parts.failure(); }
};

/// Marks a slot as a reader does whose read of a batch failed.
void fail_batch(staging_slot& slot, std::uint64_t batch) {
  stage_location where;
  where.stage = stage::reader;
  where.epoch = slot.work.pass->epoch;
  where.ticket = slot.work.ticket.value;
  where.batch = slot.work.first_batch + batch;
  slot.fail({{where, std::make_exception_ptr(std::runtime_error{"unreadable"})},
             position{slot.work.first.value + batch * 4},
             batch});
}

constexpr const char* nothing_thrown = "[nothing was thrown]";

}  // namespace

TEST_CASE("transfer: nothing is issued into a device slot before the consumer is done with it",
          "[transfer][host]") {
  transferring<recording_device> on;
  int questions = 0;
  std::size_t issued_early = 0;
  on.device->on_is_done = [&](event_handle) {
    issued_early += on.device->calls().size();
    return ++questions == 3;
  };
  (void)on.parts.fill(on.pass, 0);
  REQUIRE(on.under_test.step());
  CHECK(questions == 3);
  CHECK(issued_early == 0);
  CHECK(on.device->calls().size() == 5);
  on.device->on_is_done = [](event_handle) { return true; };
}

TEST_CASE("transfer: a slot moves in one copy, after its last use and before both its events",
          "[transfer][host]") {
  transferring<recording_device> on;
  const slot_index slot = on.parts.fill(on.pass, 0);
  REQUIRE(on.under_test.step());
  const auto calls = on.device->calls();
  REQUIRE(calls.size() == 5);
  const slot_index to = on.parts.ring->take().value();
  const device_slot& target = (*on.parts.ring)[to];
  const stream_ref stream = calls[1].stream;
  CHECK(stream);
  CHECK(calls[0] ==
        recorded_call{.what = device_call::wait, .event = target.released.get(), .stream = stream});
  CHECK(calls[1] ==
        recorded_call{.what = device_call::wait, .event = target.ready.get(), .stream = stream});
  CHECK(calls[2] == recorded_call{.what = device_call::copy,
                                  .stream = stream,
                                  .bytes = on.parts.format->layout.used_bytes(12)});
  CHECK(calls[3] == recorded_call{.what = device_call::record,
                                  .event = on.staged(slot).copied.get(),
                                  .stream = stream});
  CHECK(calls[4] ==
        recorded_call{.what = device_call::record, .event = target.ready.get(), .stream = stream});
  CHECK(on.state(slot) == staging_state::copying);
  CHECK(target.state.load() == device_state::filled);
}

TEST_CASE(
    "transfer: a delivered slot describes its content, and a short slot is copied only to its end",
    "[transfer][host]") {
  transferring<recording_device> on;
  (void)on.parts.fill(on.pass, 0);
  (void)on.parts.fill(on.pass, 1);
  REQUIRE(on.under_test.step());
  REQUIRE(on.under_test.step());
  (void)on.parts.ring->take();
  const slot_content& content = (*on.parts.ring)[on.parts.ring->take().value()].content;
  CHECK(content.pass == on.pass);
  CHECK(content.ticket == ticket{1});
  CHECK(content.first == position{12});
  CHECK(content.first_batch == 3);
  CHECK(content.samples == 6);
  CHECK(content.batches == 2);
  CHECK(on.device->calls()[7].bytes == on.parts.format->layout.used_bytes(6));
}

TEST_CASE("transfer: the bytes arrive", "[transfer][host]") {
  transferring<recording_device> on;
  const slot_index slot = on.parts.fill(on.pass, 1);
  REQUIRE(on.under_test.step());
  const std::byte* const to = (*on.parts.ring)[on.parts.ring->take().value()].data;
  const std::size_t bytes = on.parts.format->layout.used_bytes(6);
  CHECK(std::equal(to, to + bytes, on.staged(slot).data));
  CHECK(test::is_identity(12, {to, 8}, {to + on.parts.format->layout.field_offset(1), 8}));
}

TEST_CASE("transfer: it issues copies without waiting for one", "[transfer][host]") {
  transferring<scripted_device> on;
  on.device->hold_copies();
  (void)on.parts.fill(on.pass, 0);
  (void)on.parts.fill(on.pass, 1);
  CHECK(on.under_test.step());
  CHECK(on.under_test.step());
  CHECK(on.device->issued_copies() == 2);
  CHECK(on.parts.ring->try_take().has_value());
  CHECK(on.parts.ring->try_take().has_value());
  on.device->allow_all_copies();
}

TEST_CASE("transfer: it waits for room on the device", "[transfer][host]") {
  transferring<recording_device> on;
  (void)on.parts.fill(on.pass, 0);
  (void)on.parts.fill(on.pass, 1);
  REQUIRE(on.under_test.step());
  REQUIRE(on.under_test.step());
  (void)on.parts.fill(on.pass, 0);
  auto third = std::async(std::launch::async, [&] { return on.under_test.step(); });
  const slot_index slot = on.parts.ring->take().value();
  on.parts.ring->discard(slot);
  CHECK(third.get());
  (void)on.parts.ring->take();
  CHECK(on.parts.ring->take() == slot);
}

TEST_CASE("transfer: a slot of an abandoned epoch is given back uncopied", "[transfer][host]") {
  transferring<recording_device> on;
  const slot_index slot = on.parts.fill(on.pass, 0);
  on.pass->abandoned.store(true);
  CHECK(on.under_test.step());
  CHECK(on.device->calls().empty());
  CHECK_FALSE(on.parts.ring->try_take().has_value());
  CHECK(on.state(slot) == staging_state::free);
}

TEST_CASE("transfer: a failed read in an abandoned epoch fails no consumer", "[transfer][host]") {
  transferring<recording_device> on;
  const slot_index slot = on.parts.fill(on.pass, 0);
  fail_batch(on.staged(slot), 1);
  on.pass->abandoned.store(true);
  CHECK(on.under_test.step());
  CHECK(on.failure() == nothing_thrown);
  CHECK(on.state(slot) == staging_state::free);

  // The slot is like new for the next epoch.
  const auto next = std::make_shared<epoch_pass>(5);
  (void)on.parts.fill(next, 0);
  CHECK(on.parts.fill(next, 1) == slot);
  CHECK(on.under_test.step());
  CHECK(on.under_test.step());
  CHECK(on.failure() == nothing_thrown);
}

TEST_CASE(
    "transfer: good batches before a failed read are delivered with it, nothing more of its epoch "
    "pass is moved, and it continues with another",
    "[transfer][host]") {
  transferring<recording_device> on;
  const slot_index slot = on.parts.fill(on.pass, 0);
  fail_batch(on.staged(slot), 2);
  const slot_index later = on.parts.fill(on.pass, 1);
  CHECK(on.under_test.step());
  const std::size_t issued = on.device->calls().size();
  CHECK(on.under_test.step());
  CHECK(on.device->calls().size() == issued);
  CHECK(on.state(later) == staging_state::free);
  const auto other = std::make_shared<epoch_pass>(5);
  (void)on.parts.fill(other, 0);
  CHECK(on.under_test.step());
  const auto taken = on.parts.ring->take();
  REQUIRE(taken);
  const slot_content& content = (*on.parts.ring)[*taken].content;
  CHECK(content.batches == 2);
  CHECK(content.samples == 8);
  REQUIRE(content.failure);
  CHECK(content.failure->where.batch == 2);
  CHECK(test::message_of<std::runtime_error>(
            [&] { std::rethrow_exception(content.failure->cause); }) == "unreadable");
  CHECK(on.device->calls()[2].bytes == on.parts.format->layout.used_bytes(8));
  const auto next = on.parts.ring->take();
  REQUIRE(next);
  CHECK((*on.parts.ring)[*next].content.pass == other);
  CHECK_FALSE((*on.parts.ring)[*next].content.failure);
}

TEST_CASE("transfer: a slot with no good batch is not copied at all", "[transfer][host]") {
  transferring<recording_device> on;
  const slot_index slot = on.parts.fill(on.pass, 1);
  fail_batch(on.staged(slot), 0);
  CHECK(on.under_test.step());
  CHECK(on.device->calls().empty());
  CHECK(on.state(slot) == staging_state::free);
  CHECK(on.failure() == "the reader stage failed in epoch 4, batch 3: unreadable");
}

TEST_CASE("transfer: a call the device refuses is its failure, and both slots circulate",
          "[transfer][host]") {
  const auto refused = GENERATE(device_call::wait, device_call::copy);
  transferring<recording_device> on;
  on.device->on_call = [refused](const recorded_call& call) {
    if (call.what == refused) throw device_error{"refused"};
  };
  const slot_index slot = on.parts.fill(on.pass, 1);
  CHECK(on.under_test.step());
  CHECK(on.state(slot) == staging_state::copying);
  const slot_index to = on.parts.ring->take().value();
  const slot_content& content = (*on.parts.ring)[to].content;
  CHECK(content.batches == 0);
  REQUIRE(content.failure);
  CHECK(content.failure->where.stage == stage::transfer);
  CHECK(content.failure->where.batch == 3);
  on.parts.ring->discard(to);
  CHECK((*on.parts.ring)[to].state.load() == device_state::free);
}

TEST_CASE("transfer: if no event can be recorded after a copy, the slots are not used again",
          "[transfer][host]") {
  transferring<recording_device> on;
  on.device->on_call = [](const recorded_call& call) {
    if (call.what == device_call::record) throw device_error{"refused"};
  };
  const slot_index slot = on.parts.fill(on.pass, 1);
  CHECK_FALSE(on.under_test.step());
  CHECK(on.staged(slot).lost);
  CHECK(on.failure() == "the transfer stage failed in epoch 4, batch 3: refused");
  CHECK_FALSE(on.parts.ring->take().has_value());
  CHECK(on.state(slot) == staging_state::filled);
  CHECK(on.parts.staging->claim() != slot);  // the other one; this one is in no line
}

TEST_CASE("transfer: a copy that was issued is known to both rings, though an event was refused",
          "[transfer][host]") {
  // Else their memory could be freed under the copy.
  const std::uint64_t nth = GENERATE(1u, 2u);
  transferring<scripted_device> on;
  on.device->hold_copies();
  on.device->fail_call(device_call::record, nth);
  const slot_index slot = on.parts.fill(on.pass, 0);
  CHECK(on.under_test.step());
  CHECK_FALSE(on.staged(slot).lost);
  CHECK_FALSE(on.device->is_done(on.staged(slot).copied.get()));
  bool ready_is_pending = false;
  for (std::uint64_t i = 0; i < 2; ++i) {
    const event_handle ready = (*on.parts.ring)[slot_index{i}].ready.get();
    ready_is_pending = ready_is_pending || !on.device->is_done(ready);
  }
  CHECK(ready_is_pending);
  on.device->allow_all_copies();
}

TEST_CASE("transfer: the reason why opening ended is its failure, after all that was opened",
          "[transfer][host]") {
  transferring<recording_device> on;
  (void)on.parts.fill(on.pass, 0);
  stage_location where;
  where.stage = stage::staging;
  where.epoch = 4;
  where.ticket = 1;
  where.batch = 3;
  on.parts.staging->end_opening(
      failure{where, std::make_exception_ptr(std::runtime_error{"no slot"})});
  CHECK(on.under_test.step());
  CHECK(on.parts.ring->take().has_value());
  CHECK(on.failure() == nothing_thrown);
  CHECK_FALSE(on.under_test.step());
  CHECK_FALSE(on.parts.ring->take().has_value());
  CHECK(on.failure() == "the staging stage failed in epoch 4, batch 3: no slot");
}

TEST_CASE("transfer: when the rings close it ends, and that is no failure", "[transfer][host]") {
  transferring<recording_device> on;
  SECTION("while it waits for a slot") {
    auto waiting = std::async(std::launch::async, [&] { return on.under_test.step(); });
    on.parts.staging->close();
    CHECK_FALSE(waiting.get());
  }
  SECTION("while it waits for room") {
    (void)on.parts.ring->acquire();
    (void)on.parts.ring->acquire();
    (void)on.parts.fill(on.pass, 0);
    auto waiting = std::async(std::launch::async, [&] { return on.under_test.step(); });
    on.parts.ring->close();
    CHECK_FALSE(waiting.get());
  }
  CHECK(on.failure() == nothing_thrown);
}

TEST_CASE("transfer: if the consumer reads in place, nothing is copied, and slots are leased",
          "[transfer][host]") {
  stages parts{make_host_device(), make_identity_dataset(18, 8), small};
  transfer under_test{nullptr, parts.staging, parts.ring};
  const auto pass = std::make_shared<epoch_pass>(0);
  const slot_index slot = parts.fill(pass, 0);
  CHECK(under_test.step());
  CHECK(parts.ring->take() == slot);
  CHECK((*parts.staging)[slot].state.load() == staging_state::leased);
  CHECK((*parts.ring)[slot].content.batches == 3);
}
