/// Further slots of a device ring: when they are added, how much memory they have, and until when.

#include <feedline/device/host_device.hpp>

#include "batch/device_ring.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/stages.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_dataset;
using feedline::test::recording_device;
using feedline::test::stages;

namespace {

/// 8 tickets of 3 batches of 4 samples, and a ring of two slots that may grow.
struct growing {
  std::shared_ptr<recording_device> device = std::make_shared<recording_device>();
  stages parts{
      device, make_identity_dataset(96, 8),
      loader_options{.batch_size = 4,
                     .expert = {.batches_per_slot = 3, .staging_slots = 2, .device_slots = 2}}};
  std::shared_ptr<device_ring> ring = std::make_shared<device_ring>(
      device, parts.staging, parts.format, parts.failures, 2,
      growth_limits{.allowed = true, .max_bytes = std::size_t{1} << 30});
  std::shared_ptr<epoch_pass> pass = std::make_shared<epoch_pass>(0);
  stream_ref stream = device->make_stream();
  std::size_t batch_bytes = parts.format->layout.batch_bytes();

  /// A batch of the next slot, which holds so many.
  batch take(std::uint64_t batches) {
    slot_content content{parts.work(pass, 0)};
    content.batches = batches;
    ring->deliver(ring->acquire(nullptr, batches).value(), content);
    const slot_index slot = ring->take().value();
    ring->lease(slot, stream);
    batch taken = ring->lease_batch(slot, 0);
    ring->let_go(slot);
    return taken;
  }
  bool grow() {
    std::string why_not;
    return ring->grow(why_not);
  }
};

}  // namespace

TEST_CASE("further slots: one has room for as many batches as the slot before, or as it needs",
          "[device][host]") {
  growing on;
  std::vector<batch> held;
  held.push_back(on.take(1));
  held.push_back(on.take(2));
  REQUIRE(on.ring->all_leased());
  REQUIRE(on.grow());
  CHECK_FALSE(on.ring->all_leased());
  CHECK(on.ring->held_memory().bytes == 2 * on.batch_bytes);
  const slot_index slot = on.ring->acquire(nullptr, 3).value();
  CHECK(slot.value == 2);
  CHECK(on.ring->held_memory().bytes == 5 * on.batch_bytes);  // earlier work may use the first two
  std::memset((*on.ring)[slot].data, 1, 3 * on.batch_bytes);
  on.ring->deliver(slot, slot_content{on.parts.work(on.pass, 0)});
  on.ring->lease(on.ring->take().value(), on.stream);
  held.push_back(on.ring->lease_batch(slot, 0));
  on.ring->let_go(slot);
  CHECK(on.ring->all_leased());
  REQUIRE(on.grow());
  CHECK(on.ring->held_memory().bytes == 8 * on.batch_bytes);
  held.push_back(on.take(1));
  REQUIRE(on.grow());
  CHECK(on.ring->held_memory().bytes == 9 * on.batch_bytes);
  held.push_back(on.take(1));
  held.clear();
  CHECK(on.ring->held_memory().slots == 0);
  CHECK(on.ring->held_memory().bytes == 0);
  CHECK(on.ring->held_memory().max_bytes == 9 * on.batch_bytes);
  CHECK(on.ring->held_memory().added == 3);
}

TEST_CASE("further slots: one becomes spare when its batches have ended, and comes into use again",
          "[device][host]") {
  growing on;
  std::vector<batch> own;
  own.push_back(on.take(1));
  own.push_back(on.take(1));
  for (std::uint64_t round = 1; round <= 3; ++round) {
    CHECK(on.ring->all_leased());
    REQUIRE(on.grow());
    std::optional<batch> further{on.take(1)};
    CHECK((*on.ring)[slot_index{2}].state.load() == device_state::leased);
    CHECK(on.ring->count(device_state::leased) == 3);
    CHECK(on.ring->count_own(device_state::leased) == 2);
    further.reset();
    CHECK((*on.ring)[slot_index{2}].state.load() == device_state::spare);
    CHECK(on.ring->held_memory().added == round);
  }
  CHECK(on.ring->further() == 1);
}

TEST_CASE("further slots: a spare slot is not leased, and only a spare one comes into use",
          "[device][host]") {
  growing on;
  const std::vector<batch> own = [&] {
    std::vector<batch> taken;
    taken.push_back(on.take(1));
    taken.push_back(on.take(1));
    return taken;
  }();
  REQUIRE(on.grow());
  CHECK_THROWS_AS(on.ring->lease(slot_index{2}, on.stream), std::logic_error);
  CHECK_THROWS_AS(on.ring->discard(slot_index{2}), std::logic_error);
  (*on.ring)[slot_index{2}].state.store(device_state::spare);
  CHECK_THROWS_AS(on.ring->deliver(slot_index{2}, {}), std::logic_error);
  CHECK_THROWS_AS(on.ring->lease(slot_index{2}, on.stream), std::logic_error);
  CHECK_THROWS_AS(on.ring->discard(slot_index{2}), std::logic_error);
}

TEST_CASE("further slots: where slots are read in place, a staging slot comes with the memory",
          "[staging][device][host]") {
  const auto data = make_identity_dataset(96, 8);
  stages parts{
      make_host_device(), data,
      loader_options{
          .batch_size = 4, .readers = 1, .expert = {.batches_per_slot = 3, .staging_slots = 2}}};
  const auto ring = std::make_shared<device_ring>(
      parts.device, parts.staging, parts.format, parts.failures, 0,
      growth_limits{.allowed = true, .max_bytes = std::size_t{1} << 30});
  const auto pass = std::make_shared<epoch_pass>(0);
  staging_ring& staging = *parts.staging;
  const std::size_t batch_bytes = parts.format->layout.batch_bytes();
  const auto take = [&](slot_index slot, std::uint64_t batches) {
    slot_work work = parts.work(pass, 0);
    work.batches = batches;
    staging.open(slot, work);
    for (auto left = work.requests(); left > 0; --left) (void)staging.finish_request(slot);
    REQUIRE(staging.next_filled() == slot);
    staging.lease(slot);
    ring->deliver(slot, slot_content{work});
    REQUIRE(ring->take() == slot);
    ring->lease(slot, {});
    batch taken = ring->lease_batch(slot, 0);
    ring->let_go(slot);
    return taken;
  };
  std::vector<batch> held;
  held.push_back(take(staging.claim().value(), 1));
  held.push_back(take(staging.claim().value(), 1));
  std::string why_not;
  REQUIRE(ring->grow(why_not));
  staging.circulate(1);  // tuning never takes a further slot away
  const slot_index slot = staging.claim().value();
  CHECK(slot.value == 2);
  CHECK(ring->held_memory().bytes == batch_bytes);
  staging.fit(slot, 3);
  CHECK(ring->held_memory().bytes == 4 * batch_bytes);
  std::memset(staging[slot].data, 1, 3 * batch_bytes);
  held.push_back(take(slot, 3));
  CHECK((*ring)[slot].data == staging[slot].data);
  CHECK(staging.states() == "3 leased");
  held.pop_back();
  CHECK(staging[slot].state.load() == staging_state::free);
  CHECK(ring->held_memory().bytes == 0);
  held.clear();
}
