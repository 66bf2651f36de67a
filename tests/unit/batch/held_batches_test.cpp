/// Tests what a device ring knows of a consumer that holds batches in every slot.

#include "batch/device_ring.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/stages.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_dataset;
using feedline::test::recording_device;
using feedline::test::stages;

TEST_CASE("device ring: it knows when batches are held in every slot, how many and where",
          "[device][host]") {
  const auto device = std::make_shared<recording_device>();
  const stages parts{
      device, make_identity_dataset(96, 8),
      loader_options{.batch_size = 4,
                     .expert = {.batches_per_slot = 3, .staging_slots = 2, .device_slots = 2}}};
  device_ring& ring = *parts.ring;
  const auto run = std::make_shared<epoch_pass>(0);
  const stream_ref stream = device->make_stream();
  std::vector<batch> held;
  for (std::uint64_t ticket = 0; ticket < 2; ++ticket) {
    CHECK_FALSE(ring.all_leased());
    const slot_work work = parts.work(run, ticket);
    ring.deliver(ring.acquire().value(), {work});
    const slot_index slot = ring.take().value();
    ring.lease(slot, stream);
    for (std::uint64_t i = 0; i <= ticket; ++i) held.push_back(ring.lease_batch(slot, i));
    ring.let_go(slot);
  }
  CHECK(ring.all_leased());
  CHECK(ring.held_batches() == "3 batches are held (1 in slot 0, 2 in slot 1), of 2 device slots");
  CHECK_FALSE(ring.wait_for_room({.deadline = std::chrono::steady_clock::now()}));

  auto waiting = std::async(std::launch::async, [&] {
    return ring.wait_for_room(
        {.deadline = std::chrono::steady_clock::now() + std::chrono::hours{1}});
  });
  SECTION("until one of them is free") {
    held.erase(held.begin());
  }
  SECTION("until it is closed") {
    ring.close();
  }
  CHECK(waiting.get());
  CHECK_FALSE(ring.all_leased());
}
