#include "batch/batch_cursor.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/stages.hpp"
#include "transfer/slot_transfer.hpp"
#include "transfer/transfer.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_dataset;
using feedline::test::recorded_call;
using feedline::test::recording_device;
using feedline::test::stages;

namespace {

/// 18 samples in batches of 4 4 4 | 4 2, rings of 2 slots.
struct feeding {
  std::shared_ptr<recording_device> device = std::make_shared<recording_device>();
  stages parts{
      device, make_identity_dataset(18, 8),
      loader_options{.batch_size = 4,
                     .expert = {.batches_per_slot = 3, .staging_slots = 2, .device_slots = 2}}};
  transfer moving{
      std::make_unique<copy_transfer>(device, parts.format->layout, parts.format->layout),
      parts.staging, parts.ring};
  batch_cursor cursor{parts.ring};
  std::shared_ptr<epoch_pass> pass = std::make_shared<epoch_pass>(1);
  stream_ref stream = device->make_stream();

  /// A ticket's slot, read, copied and taken.
  slot_index arrive(const std::shared_ptr<epoch_pass>& of, std::uint64_t ticket) {
    (void)parts.fill(of, ticket);
    (void)moving.step();
    return parts.ring->take().value();
  }
  device_state state(slot_index slot) { return (*parts.ring)[slot].state.load(); }
};

}  // namespace

TEST_CASE("batch cursor: it hands out a slot's batches in order, then has none", "[batch][host]") {
  feeding on;
  on.cursor.begin(on.pass, on.stream);
  CHECK_FALSE(on.cursor.hand_out().has_value());
  for (std::uint64_t ticket = 0; ticket < 2; ++ticket) {
    on.cursor.accept(on.arrive(on.pass, ticket));
    for (std::uint64_t i = 3 * ticket; i < (ticket == 0 ? 3 : 5); ++i) {
      const auto handed_out = on.cursor.hand_out();
      REQUIRE(handed_out);
      CHECK(handed_out->index() == i);
      CHECK(handed_out->epoch() == 1);
      CHECK(handed_out->size() == (i == 4 ? 2 : 4));
      CHECK(handed_out->stream() == on.stream);
      CHECK(handed_out->field_at(0).values<std::uint64_t>()[0] == 4 * i);
      CHECK(on.cursor.handed_out() == i + 1);
    }
    CHECK_FALSE(on.cursor.hand_out().has_value());
  }
}

TEST_CASE("batch cursor: a slot is held while batches of it are still to be handed out",
          "[batch][host]") {
  feeding on;
  on.cursor.begin(on.pass, on.stream);
  const slot_index slot = on.arrive(on.pass, 0);
  on.cursor.accept(slot);
  for (int i = 0; i < 2; ++i) on.cursor.hand_out().reset();  // handed out and destroyed
  CHECK(on.state(slot) == device_state::leased);
  auto last = on.cursor.hand_out();
  CHECK(on.state(slot) == device_state::leased);
  last.reset();
  CHECK(on.state(slot) == device_state::free);
}

TEST_CASE("batch cursor: slots of an abandoned epoch pass go back unseen", "[batch][host]") {
  feeding on;
  const auto other = std::make_shared<epoch_pass>(1);  // the same number, but another pass
  on.cursor.begin(on.pass, on.stream);
  const slot_index slot = on.arrive(other, 0);
  other->abandoned = true;
  on.cursor.accept(slot);
  CHECK(on.state(slot) == device_state::free);
  CHECK_FALSE(on.cursor.hand_out().has_value());
  on.cursor.accept(on.arrive(on.pass, 0));
  CHECK(on.cursor.hand_out().has_value());
}

TEST_CASE("batch cursor: beginning an epoch releases the rest of the one before", "[batch][host]") {
  feeding on;
  on.cursor.begin(on.pass, on.stream);
  const slot_index slot = on.arrive(on.pass, 0);
  on.cursor.accept(slot);
  std::optional<batch> cached = on.cursor.hand_out();
  const auto next = std::make_shared<epoch_pass>(2);
  const stream_ref other = on.device->make_stream();
  on.cursor.begin(next, other);
  CHECK(on.cursor.pass() == next);
  CHECK(on.cursor.handed_out() == 0);
  CHECK_FALSE(on.cursor.hand_out().has_value());
  CHECK(on.state(slot) == device_state::leased);  // a batch of it is still held
  cached.reset();
  CHECK(on.state(slot) == device_state::free);
  on.cursor.accept(on.arrive(next, 0));
  CHECK(on.cursor.hand_out().value().stream() == other);
}

TEST_CASE("batch cursor: its end releases the current slot", "[batch][host]") {
  feeding on;
  slot_index slot{};
  {
    batch_cursor cursor{on.parts.ring};
    cursor.begin(on.pass, on.stream);
    slot = on.arrive(on.pass, 0);
    cursor.accept(slot);
    CHECK(on.state(slot) == device_state::leased);
  }
  CHECK(on.state(slot) == device_state::free);
}

TEST_CASE("batch cursor: a slot that the device refuses to lease hands out no batch",
          "[batch][host]") {
  feeding on;
  on.cursor.begin(on.pass, on.stream);
  const slot_index slot = on.arrive(on.pass, 0);
  on.device->on_call = [](const recorded_call&) { throw device_error{"no"}; };
  CHECK_THROWS_AS(on.cursor.accept(slot), device_error);
  CHECK_FALSE(on.cursor.hand_out().has_value());
}
