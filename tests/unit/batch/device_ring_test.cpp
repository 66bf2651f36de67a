#include "batch/device_ring.hpp"

#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/stages.hpp"

#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::device_call;
using feedline::test::make_identity_dataset;
using feedline::test::recorded_call;
using feedline::test::recording_device;
using feedline::test::stages;

namespace {

/// 8 tickets of 3 batches of 4 samples, rings of 2 slots.
const loader_options small{
    .batch_size = 4, .expert = {.batches_per_slot = 3, .staging_slots = 2, .device_slots = 2}};

/// The content of a ticket 0 of three batches.
slot_content whole_slot(const std::shared_ptr<epoch_pass>& pass) {
  return {{.pass = pass,
           .ticket = ticket{0},
           .first = position{0},
           .first_batch = 0,
           .samples = 12,
           .batches = 3}};
}

struct on_recording {
  std::shared_ptr<recording_device> device = std::make_shared<recording_device>();
  stages parts{device, make_identity_dataset(96, 8), small};
  device_ring& ring = *parts.ring;
  std::shared_ptr<epoch_pass> pass = std::make_shared<epoch_pass>(5);
  stream_ref stream = device->make_stream();

  slot_content content(std::uint64_t ticket) const { return {parts.work(pass, ticket)}; }
  /// Does the transfer's work, without the copy.
  slot_index deliver(std::uint64_t ticket) {
    const slot_index slot = ring.acquire().value();
    ring.deliver(slot, content(ticket));
    return slot;
  }
  /// Does the cursor's work.
  slot_index take_and_lease() {
    const slot_index slot = ring.take().value();
    ring.lease(slot, stream);
    return slot;
  }
};

}  // namespace

TEST_CASE("device ring: every transition of the table is made, and no other", "[device][host]") {
  using enum device_state;
  struct row {
    const char* name;
    std::function<void(on_recording&, slot_index)> act;
    device_state from;
    device_state to;
  };
  const std::array<row, 3> table{
      {{"deliver", [](auto& on, auto slot) { on.ring.deliver(slot, on.content(0)); }, free, filled},
       {"lease", [](auto& on, auto slot) { on.ring.lease(slot, on.stream); }, filled, leased},
       {"discard", [](auto& on, auto slot) { on.ring.discard(slot); }, filled, free}}};
  for (const auto& each : table) {
    for (const device_state from : {free, filled, leased}) {
      CAPTURE(each.name, static_cast<int>(from));
      on_recording on;
      const slot_index slot = on.ring.acquire().value();
      on.ring[slot].state.store(from);
      if (from == each.from) {
        each.act(on, slot);
        CHECK(on.ring[slot].state.load() == each.to);
      } else {
        CHECK_THROWS_AS(each.act(on, slot), std::logic_error);
        CHECK(on.ring[slot].state.load() == from);
      }
    }
  }
}

TEST_CASE(
    "device ring: ending a lease that does not exist is a failure of the batch stage, not a throw",
    "[device][host]") {
  const auto from = GENERATE(device_state::free, device_state::filled);
  on_recording on;
  const slot_index slot = on.deliver(2);
  on.ring[slot].state.store(from);
  on.ring[slot].leases.add();
  on.ring.end_lease(slot);
  CHECK(test::message_of<stage_error>([&] {
          on.parts.failures->rethrow();
        }).find("the batch stage failed in epoch 5, batch 6") == 0);
}

TEST_CASE("device ring: slots have fixed addresses in one block, as many as asked for",
          "[device][host]") {
  on_recording on;
  CHECK_FALSE(on.ring.in_place());
  const auto bytes = on.parts.plan.slot_bytes;
  CHECK(on.ring[slot_index{1}].data == on.ring[slot_index{0}].data + bytes);
  CHECK(on.ring[slot_index{0}].data != (*on.parts.staging)[slot_index{0}].data);
}

TEST_CASE("device ring: a slot that is leased is not acquired, and one that came back is",
          "[device][host]") {
  on_recording on;
  (void)on.deliver(0);
  (void)on.deliver(1);
  auto third = std::async(std::launch::async, [&] { return on.ring.acquire(); });
  const slot_index slot = on.take_and_lease();
  on.ring.let_go(slot);
  CHECK(third.get() == slot);
}

TEST_CASE("device ring: slots are taken in the order of delivery, and not before",
          "[device][host]") {
  on_recording on;
  CHECK_FALSE(on.ring.try_take().has_value());
  auto first = std::async(std::launch::async, [&] { return on.ring.take(); });
  const slot_index a = on.deliver(0);
  const slot_index b = on.deliver(1);
  CHECK(first.get() == a);
  CHECK(on.ring.try_take() == b);
  CHECK_FALSE(on.ring.try_take().has_value());
}

TEST_CASE("device ring: after the end of delivery the delivered slots come, then nothing",
          "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(0);
  on.ring.end_delivery();
  CHECK(on.ring.take() == slot);
  CHECK_FALSE(on.ring.take().has_value());
}

TEST_CASE("device ring: closing wakes threads that wait for a slot, on either side",
          "[device][host]") {
  on_recording on;
  SECTION("the consumer") {
    auto waiting = std::async(std::launch::async, [&] { return on.ring.take(); });
    on.ring.close();
    CHECK_FALSE(waiting.get().has_value());
  }
  SECTION("the transfer") {
    (void)on.ring.acquire();
    (void)on.ring.acquire();
    auto waiting = std::async(std::launch::async, [&] { return on.ring.acquire(); });
    on.ring.close();
    CHECK_FALSE(waiting.get().has_value());
  }
  SECTION("with slots free") {
    on.ring.close();
    CHECK_FALSE(on.ring.acquire().has_value());
  }
}

TEST_CASE("device ring: leasing makes the consumer's stream wait for the copy, not the host",
          "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(0);
  on.device->forget_calls();
  CHECK(on.take_and_lease() == slot);
  CHECK(on.device->calls() ==
        std::vector<recorded_call>{
            {.what = device_call::wait, .event = on.ring[slot].ready.get(), .stream = on.stream}});
}

TEST_CASE("device ring: only the last lease's end marks the consumer's stream and frees the slot",
          "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(0);
  (void)on.take_and_lease();
  on.device->forget_calls();
  {
    std::optional<batch> first{on.ring.lease_batch(slot, 0)};
    const batch second = on.ring.lease_batch(slot, 1);
    on.ring.let_go(slot);
    first.reset();
    CHECK(on.device->calls().empty());
    CHECK(on.ring[slot].state.load() == device_state::leased);
  }
  CHECK(on.device->calls() == std::vector<recorded_call>{{.what = device_call::record,
                                                          .event = on.ring[slot].released.get(),
                                                          .stream = on.stream}});
  CHECK(on.ring[slot].state.load() == device_state::free);
}

TEST_CASE(
    "device ring: the last batch's end marks the stream though the cursor holds the slot, and the "
    "cursor releases it without a mark",
    "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(0);
  (void)on.take_and_lease();
  on.device->forget_calls();
  const auto marks = [&] { return on.device->calls().size(); };
  for (std::size_t handed_out = 0; handed_out < 2; ++handed_out) {
    { const batch only = on.ring.lease_batch(slot, handed_out); }
    CHECK(marks() == handed_out + 1);
    CHECK(on.ring[slot].state.load() == device_state::leased);
  }
  on.ring.let_go(slot);
  CHECK(marks() == 2);
  CHECK(on.ring[slot].state.load() == device_state::free);
}

TEST_CASE("device ring: a batch knows its position, and the last of an epoch its smaller size",
          "[device][host]") {
  const auto device = std::make_shared<recording_device>();
  stages parts{device, make_identity_dataset(18, 8), small};  // batches of 4 4 4 | 4 2
  device_ring& ring = *parts.ring;
  const auto pass = std::make_shared<epoch_pass>(7);
  const slot_index slot = ring.acquire().value();
  ring.deliver(slot, {{.pass = pass,
                       .ticket = ticket{1},
                       .first = position{12},
                       .first_batch = 3,
                       .samples = 6,
                       .batches = 2}});
  ring.lease(ring.take().value(), device->make_stream());
  const batch whole = ring.lease_batch(slot, 0);
  const batch last = ring.lease_batch(slot, 1);
  CHECK(whole.size() == 4);
  CHECK(whole.index() == 3);
  CHECK(last.size() == 2);
  CHECK(last.index() == 4);
  CHECK(last.epoch() == 7);
  CHECK(last.field_at(0).bytes().data() == ring[slot].data + parts.plan.batch_bytes);
  ring.let_go(slot);
}

TEST_CASE("device ring: a discarded slot goes back with no mark on any stream", "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(0);
  on.device->forget_calls();
  on.ring.discard(on.ring.take().value());
  CHECK(on.device->calls().empty());
  CHECK(on.ring[slot].state.load() == device_state::free);
  (void)on.ring.acquire();
  CHECK(on.ring.acquire() == slot);
}

TEST_CASE("device ring: a lease the device refuses leaves the slot as it was", "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(0);
  on.device->on_call = [](const recorded_call&) { throw device_error{"no"}; };
  CHECK_THROWS_AS(on.ring.lease(on.ring.take().value(), on.stream), device_error);
  CHECK(on.ring[slot].state.load() == device_state::filled);
}

TEST_CASE("device ring: a release the device refuses loses the slot and ends the epoch",
          "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(1);
  (void)on.take_and_lease();
  auto held = std::make_optional(on.ring.lease_batch(slot, 0));
  on.ring.let_go(slot);
  on.device->on_call = [](const recorded_call&) { throw device_error{"the stream is gone"}; };
  held.reset();  // a batch's destructor: must not throw
  CHECK(test::message_of<stage_error>([&] { on.parts.failures->rethrow(); }) ==
        "the batch stage failed in epoch 5, batch 3: the stream is gone");
  CHECK(on.ring[slot].state.load() == device_state::leased);
  CHECK_FALSE(on.ring.take().has_value());
  CHECK_FALSE(on.ring.acquire().has_value());
}

TEST_CASE("device ring: a release the device refuses once is tried again, and the slot circulates",
          "[device][host]") {
  on_recording on;
  const slot_index slot = on.deliver(0);
  (void)on.take_and_lease();
  auto held = std::make_optional(on.ring.lease_batch(slot, 0));
  on.ring.let_go(slot);
  on.device->forget_calls();
  int count = 0;
  on.device->on_call = [&](const recorded_call&) {
    if (count++ == 0) throw device_error{"not now"};
  };
  held.reset();
  const recorded_call mark{
      .what = device_call::record, .event = on.ring[slot].released.get(), .stream = on.stream};
  CHECK(on.device->calls() == std::vector<recorded_call>{mark, mark});
  CHECK_FALSE(on.ring[slot].lost);
  CHECK(on.ring[slot].state.load() == device_state::free);
  CHECK(on.parts.failure() == "the batch stage failed in epoch 5, batch 0: not now");
}

TEST_CASE("device ring: its memory goes when copies and consumers are done, whatever fails",
          "[device][host]") {
  const auto device = std::make_shared<recording_device>();
  std::vector<event_handle> events;
  {
    stages parts{device, make_identity_dataset(96, 8), small};
    for (std::uint64_t i = 0; i < 2; ++i) {
      events.push_back((*parts.ring)[slot_index{i}].ready.get());
      events.push_back((*parts.ring)[slot_index{i}].released.get());
    }
    parts.ring.reset();
    std::vector<event_handle> synced;
    for (const auto& call : device->calls()) {
      CHECK(call.what == device_call::sync);
      synced.push_back(call.event);
    }
    CHECK(synced == events);
  }
}

TEST_CASE("device ring: that one event fails keeps no other from being waited for",
          "[device][host]") {
  const auto device = std::make_shared<recording_device>();
  device->on_sync = [](event_handle) { throw device_error{"the device is gone"}; };
  stages parts{device, make_identity_dataset(96, 8), small};
  parts.ring.reset();
  CHECK(device->calls().size() == 4);  // two events of each of two slots
  CHECK(device->blocks() == 2);        // its own, which work may still use, and the staging ring's
}

TEST_CASE("device ring: batches keep it, the staging ring and the device alive", "[device][host]") {
  auto parts = std::make_optional<stages>(make_host_device(), make_identity_dataset(96, 8), small);
  const std::weak_ptr<staging_ring> staging = parts->staging;
  const std::weak_ptr<device_ring> ring = parts->ring;
  const std::weak_ptr<device> device = parts->device;
  const auto pass = std::make_shared<epoch_pass>(0);
  const slot_index slot = parts->fill(pass, 0);
  (void)parts->staging->next_filled();
  parts->staging->lease(slot);
  parts->ring->deliver(slot, whole_slot(pass));
  parts->ring->lease(parts->ring->take().value(), {});
  std::optional<batch> cached{parts->ring->lease_batch(slot, 1)};
  parts->ring->let_go(slot);
  parts.reset();
  CHECK_FALSE(device.expired());
  CHECK(test::is_identity(4, (*cached)["id"].bytes().first(8), (*cached)["row"].bytes().first(8)));
  cached.reset();
  CHECK(ring.expired());
  CHECK(staging.expired());
  CHECK(device.expired());
}

TEST_CASE("device ring in place: its slots are the staging slots, and go back there",
          "[device][host]") {
  stages parts{make_host_device(), make_identity_dataset(96, 8), small};
  device_ring& ring = *parts.ring;
  CHECK(ring.in_place());
  const auto pass = std::make_shared<epoch_pass>(0);
  const slot_index slot = parts.fill(pass, 0);
  CHECK(ring[slot].data == (*parts.staging)[slot].data);
  (void)parts.staging->next_filled();
  parts.staging->lease(slot);
  ring.deliver(slot, whole_slot(pass));
  CHECK(ring.take() == slot);
  SECTION("after the last lease") {
    ring.lease(slot, {});
    CHECK((*parts.staging)[slot].state.load() == staging_state::leased);
    ring.let_go(slot);
  }
  SECTION("unwanted") {
    ring.discard(slot);
  }
  CHECK((*parts.staging)[slot].state.load() == staging_state::free);
  (void)parts.staging->claim();
  CHECK(parts.staging->claim() == slot);
}
