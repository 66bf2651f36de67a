/// How the transfer waits until the consumer is done with a device slot.

#include "batch/device_ring.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/stages.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using namespace feedline;
using namespace feedline::detail;
using namespace std::chrono_literals;
using feedline::test::make_identity_dataset;
using feedline::test::recording_device;
using feedline::test::stages;

namespace {

/// A ring whose first slot is released once its event was asked for this many times.
struct asked_ring {
  explicit asked_ring(int questions) : left{questions} {
    device->on_is_done = [this](event_handle event) {
      if (event != (*parts.ring)[slot].released.get()) return true;
      ++asked;
      asked.notify_all();
      return --left < 0;
    };
  }
  ~asked_ring() {
    device->on_is_done = [](event_handle) { return true; };
  }
  asked_ring(const asked_ring&) = delete;
  asked_ring& operator=(const asked_ring&) = delete;

  void wait(std::chrono::nanoseconds at_most) { parts.ring->wait_until_released(slot, at_most); }
  [[nodiscard]] bool was_late() const { return (*parts.ring)[slot].released_late; }

  std::shared_ptr<recording_device> device = std::make_shared<recording_device>();
  stages parts{
      device,
      make_identity_dataset(96, 8),
      {.batch_size = 4, .expert = {.batches_per_slot = 3, .staging_slots = 2, .device_slots = 2}}};
  slot_index slot = parts.ring->acquire().value();
  std::atomic<int> left;
  std::atomic<int> asked{0};
};

constexpr int never = 1 << 30;

}  // namespace

TEST_CASE("release wait: if the consumer is done already, one question is all", "[batch][host]") {
  asked_ring on{0};
  on.wait(1h);
  CHECK(on.asked == 1);
  CHECK_FALSE(on.was_late());
}

TEST_CASE("release wait: it ends when the consumer is done, and is noted", "[batch][host]") {
  const int questions = GENERATE(1, 7, 400);
  asked_ring on{questions};
  on.wait(1h);
  CHECK(on.asked == questions + 1);
  CHECK(on.was_late());
  on.wait(1h);
  CHECK_FALSE(on.was_late());
}

TEST_CASE("release wait: without time it is noted only", "[batch][host]") {
  asked_ring on{never};
  on.wait(0s);
  CHECK(on.asked == 1);
  CHECK(on.was_late());
}

TEST_CASE("release wait: after one that took too long none is made until the consumer is in time",
          "[batch][host]") {
  asked_ring on{never};
  on.wait(1ms);
  CHECK(on.asked > 1);
  on.asked = 0;
  on.wait(1h);
  CHECK(on.asked == 1);
  CHECK(on.was_late());
  on.left = 0;
  on.wait(1h);
  CHECK_FALSE(on.was_late());
  on.asked = 0;
  on.left = 5;
  on.wait(1h);
  CHECK(on.asked == 6);
}

TEST_CASE("release wait: closing the ring ends it", "[batch][host]") {
  asked_ring on{never};
  std::jthread waiting{[&] { on.wait(1h); }};
  for (int seen = 0; seen < 2; seen = on.asked) on.asked.wait(seen);  // it waits
  on.parts.ring->close();
  waiting.join();
  CHECK(on.was_late());
}

TEST_CASE("release wait: the device's refusal comes through", "[batch][host]") {
  asked_ring on{never};
  on.device->on_is_done = [&, asked = 0](event_handle) mutable -> bool {
    if (asked++ == 2) throw device_error{"gone"};
    return false;
  };
  CHECK_THROWS_AS(on.wait(1h), device_error);
}
