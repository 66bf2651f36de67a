/// The edges of the path back: a copy reads no result before it is made, no result is overwritten
/// while it is copied, the CPU reads no result before its copy is done, and the device writes no
/// slot that the CPU still reads. Each edge is proved by holding work or copies open, and each
/// proof is tested itself by a device that forgets the edge.

#include <feedline/results/ring.hpp>

#include "device/owned.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/forgetful_device.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t bytes = 64;

/// A ring on a device that may forget an edge, and a buffer of the consumer's on the device.
struct returning {
  explicit returning(forgotten edge, std::size_t slots = 2)
      : results{std::make_shared<forgetful_device>(on.device, on.stream, edge),
                {.slot_bytes = bytes, .slots = slots}} {}
  returning(const returning&) = delete;
  returning& operator=(const returning&) = delete;
  /// Work may still write the buffer: nothing else waits for it if an edge is forgotten, and it is
  /// held if a test has failed.
  ~returning() {
    on.device->allow_all_work();
    on.device->allow_all_copies_back();
    on.device->drain(on.stream);
  }

  /// Work on the stream that fills the buffer.
  void produce(std::byte value) {
    on.device->launch(
        on.stream,
        [to = buffer.data(), value] { std::memset(to, std::to_integer<int>(value), bytes); },
        {buffer.data(), bytes});
  }
  std::optional<source_lease> push() { return results.push(buffer.data(), bytes, on.stream); }

  const scripted on{};
  detail::device_memory buffer{on.device, memory_kind::device, bytes};
  result_ring results;
};

bool all_are(const std::optional<result>& seen, std::byte value) {
  REQUIRE(seen);
  const auto held = seen->bytes();
  return held.size() == bytes &&
         std::all_of(held.begin(), held.end(), [&](std::byte each) { return each == value; });
}

/// The work that makes a result is held until the copy could have read what was there before.
bool push_before_the_work(forgotten edge) {
  returning back{edge};
  back.on.device->hold_work();
  back.produce(std::byte{7});
  (void)back.push();
  std::optional<result> seen;
  if (edge == forgotten::copy_waits_for_consumer) seen = back.results.next();
  CHECK_FALSE(back.results.try_next());
  back.on.device->allow_all_work();
  if (!seen) seen = back.results.next();
  return all_are(seen, std::byte{7});
}

/// The copy is held until work that overwrites its source could have run.
bool overwrite_during_the_copy(forgotten edge) {
  returning back{edge};
  back.produce(std::byte{7});
  back.on.device->hold_copies_back();
  auto copying = back.push();
  copying.reset();
  back.produce(std::byte{8});
  if (edge == forgotten::consumer_waits_for_copy) back.on.device->drain(back.on.stream);
  back.on.device->allow_all_copies_back();
  return all_are(back.results.next(), std::byte{7});
}

/// The copy is held, its target poisoned, until the CPU could have read it.
bool take_before_the_copy(forgotten edge) {
  returning back{edge};
  back.produce(std::byte{7});
  back.on.device->hold_copies_back();
  (void)back.push();
  back.on.device->wait_for_started_copies_back(1);
  std::optional<std::byte> early;
  if (edge == forgotten::reader_waits_for_copy) {
    const auto seen = back.results.next();
    REQUIRE(seen);
    early = seen->bytes()[0];
  }
  CHECK_FALSE(back.results.try_next());
  back.on.device->allow_all_copies_back();
  return early ? *early == std::byte{7} : all_are(back.results.next(), std::byte{7});
}

}  // namespace

TEST_CASE("result ring: a copy does not begin before the work that makes the result is done",
          "[results][host]") {
  CHECK(push_before_the_work(forgotten::nothing));
}

TEST_CASE("result ring: a source is not overwritten before its copy is done", "[results][host]") {
  CHECK(overwrite_during_the_copy(forgotten::nothing));
}

TEST_CASE("result ring: a result is not handed to the CPU before its copy is done",
          "[results][host]") {
  CHECK(take_before_the_copy(forgotten::nothing));
}

TEST_CASE("result ring mutant: a copy that does not wait for the work is caught",
          "[results][host]") {
  CHECK_FALSE(push_before_the_work(forgotten::copy_waits_for_consumer));
}

TEST_CASE("result ring mutant: work that does not wait for the copy of its target is caught",
          "[results][host]") {
  CHECK_FALSE(overwrite_during_the_copy(forgotten::consumer_waits_for_copy));
}

TEST_CASE("result ring mutant: a CPU that does not wait for the copy is caught",
          "[results][host]") {
  CHECK_FALSE(take_before_the_copy(forgotten::reader_waits_for_copy));
}

TEST_CASE("result ring: while a source is leased, the stream's other work runs beside the copy",
          "[results][host]") {
  returning back{forgotten::nothing};
  back.produce(std::byte{7});
  back.on.device->hold_copies_back();
  auto copying = back.push();
  bool ran = false;
  back.on.device->launch(back.on.stream, [&] { ran = true; });
  back.on.device->drain(back.on.stream);  // the host waits for nothing else
  CHECK(ran);
  copying.reset();
  back.produce(std::byte{8});
  back.on.device->allow_all_copies_back();
  CHECK(all_are(back.results.next(), std::byte{7}));
}

TEST_CASE("result ring: two buffers in turn, each leased until it is written again, lose nothing",
          "[results][host]") {
  returning back{forgotten::nothing, 3};
  detail::device_memory second{back.on.device, memory_kind::device, bytes};
  const std::array<std::byte*, 2> buffers{back.buffer.data(), second.data()};
  std::array<std::optional<source_lease>, 2> copying;
  for (std::size_t step = 0; step < 30; ++step) {
    std::byte* const mine = buffers.at(step % 2);
    copying.at(step % 2).reset();
    back.on.device->launch(back.on.stream,
                           [mine, step] { std::memset(mine, static_cast<int>(step), bytes); });
    copying.at(step % 2) = back.results.push(mine, bytes, back.on.stream);
    if (step >= 2) CHECK(all_are(back.results.next(), static_cast<std::byte>(step - 2)));
  }
  CHECK(all_are(back.results.next(), std::byte{28}));
  CHECK(all_are(back.results.next(), std::byte{29}));
}

TEST_CASE("result ring: a slot whose result the CPU holds is not written", "[results][host]") {
  returning back{forgotten::nothing};
  back.produce(std::byte{1});
  (void)back.push();
  auto held = back.results.next();
  back.produce(std::byte{2});
  (void)back.push();
  back.produce(std::byte{3});
  CHECK_FALSE(back.results.try_push(back.buffer.data(), bytes, back.on.stream));
  back.on.device->drain(back.on.stream);
  CHECK(all_are(held, std::byte{1}));
  held.reset();
  CHECK(back.results.try_push(back.buffer.data(), bytes, back.on.stream));
  CHECK(all_are(back.results.next(), std::byte{2}));
  CHECK(all_are(back.results.next(), std::byte{3}));
}

TEST_CASE("result ring: nothing is pushed on a captured stream, and the ring continues after it",
          "[results][host]") {
  returning back{forgotten::nothing};
  back.produce(std::byte{1});
  back.on.device->hold_copies_back();
  auto copying = back.push();
  back.on.device->begin_capture(back.on.stream);
  CHECK_THROWS_WITH(back.push(),
                    "a result was pushed on a stream that is being captured, and a launch of the "
                    "graph would not push it again: push after each launch");
  back.on.device->allow_all_copies_back();
  copying.reset();  // blocks until the copy is done, and is no part of the capture
  back.on.device->end_capture(back.on.stream);
  CHECK(back.on.device->captured_calls() == 0);
  back.produce(std::byte{2});
  (void)back.push();
  CHECK(all_are(back.results.next(), std::byte{1}));
  CHECK(all_are(back.results.next(), std::byte{2}));
}
