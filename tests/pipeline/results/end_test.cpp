/// How a result ring ends: by stop, by destruction in each state, by a device that refuses a call.

#include <feedline/backend/device.hpp>
#include <feedline/results/ring.hpp>

#include "device/deferred_free.hpp"
#include "device/owned.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/wrapped_device.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t bytes = 64;

/// A ring, and memory of eights that the device holds.
struct returning {
  explicit returning(std::size_t slots = 2)
      : results{std::make_unique<result_ring>(
            on.device, result_options{.slot_bytes = bytes, .slots = slots})} {
    std::memset(buffer.data(), 8, bytes);
  }
  [[nodiscard]] std::optional<source_lease> push(std::uint64_t batch = 0) const {
    return results->push(buffer.data(), bytes, on.stream, {.epoch = 5, .batch = batch});
  }

  const scripted on{};
  detail::device_memory buffer{on.device, memory_kind::device, bytes};
  std::unique_ptr<result_ring> results;
};

/// Tells when it was first asked after an event.
class asked_device final : public wrapped_device {
 public:
  using wrapped_device::wrapped_device;

  [[nodiscard]] bool is_done(event_handle event) override {
    const bool done = wrapped_device::is_done(event);
    was_asked_.store(true);
    was_asked_.notify_all();
    return done;
  }
  void wait_for_question() const { was_asked_.wait(false); }

 private:
  std::atomic<bool> was_asked_{false};
};

/// Lets copies back complete when the host waits for one, and not before.
class waiting_device final : public wrapped_device {
 public:
  explicit waiting_device(std::shared_ptr<scripted_device> real)
      : wrapped_device{real}, scripted_{std::move(real)} {
    scripted_->hold_copies_back();
  }
  void sync(event_handle event) override {
    scripted_->allow_all_copies_back();
    wrapped_device::sync(event);
  }

 private:
  std::shared_ptr<scripted_device> scripted_;
};

/// Makes the ring again, on a `waiting_device`.
void complete_copies_when_waited_for(returning& back) {
  back.results = std::make_unique<result_ring>(std::make_shared<waiting_device>(back.on.device),
                                               result_options{.slot_bytes = bytes, .slots = 2});
}

bool is_whole(const result& seen) {
  const auto held = seen.bytes();
  return held.size() == bytes &&
         std::all_of(held.begin(), held.end(), [](std::byte each) { return each == std::byte{8}; });
}

}  // namespace

TEST_CASE("result ring stop: it wakes a taker that waits for a push", "[results][host]") {
  const returning back;
  auto taker = std::async(std::launch::async, [&] { return back.results->next().has_value(); });
  back.results->stop();
  CHECK_FALSE(taker.get());
  CHECK_FALSE(back.results->next());
  CHECK_FALSE(back.results->try_next());
}

TEST_CASE("result ring stop: it wakes a taker that waits for a copy", "[results][host]") {
  const scripted on;
  const auto asked = std::make_shared<asked_device>(on.device);
  const detail::device_memory buffer{on.device, memory_kind::device, bytes};
  result_ring results{asked, {.slot_bytes = bytes}};
  on.device->hold_copies_back();
  (void)results.push(buffer.data(), bytes, on.stream);
  auto taker = std::async(std::launch::async, [&] { return results.next().has_value(); });
  asked->wait_for_question();  // the taker knows by now that the copy is not done
  results.stop();
  CHECK_FALSE(taker.get());
  on.device->allow_all_copies_back();
}

TEST_CASE("result ring stop: it wakes a pusher that waits for room, and nothing is pushed then",
          "[results][host]") {
  const returning back;
  (void)back.push();
  (void)back.push();
  auto pusher = std::async(std::launch::async, [&] { return back.push().has_value(); });
  back.results->stop();
  CHECK_FALSE(pusher.get());
  CHECK_FALSE(back.push());
}

TEST_CASE("result ring: results and leases may outlive it, and its memory lasts as long",
          "[results][host]") {
  returning back;
  auto copying = back.push();
  auto held = back.results->next();
  back.results.reset();
  CHECK(back.on.device->allocated_bytes(memory_kind::staging) > 0);
  REQUIRE(held);
  CHECK(is_whole(*held));
  held.reset();
  copying.reset();
  CHECK(back.on.device->allocated_bytes(memory_kind::staging) == 0);
  CHECK(back.on.device->freed_in_use() == 0);
}

TEST_CASE("result ring: memory that a copy still writes is freed after it, though no thread waits",
          "[results][host]") {
  returning back;
  const log_capture log;
  back.on.device->hold_copies_back();
  (void)back.push();
  back.results.reset();  // waits for a second
  CHECK(back.on.device->allocated_bytes(memory_kind::staging) > 0);
  CHECK(log.text().find("a loader or result ring was destroyed while the device still used its "
                        "memory") != std::string::npos);
  back.on.device->allow_all_copies_back();
  back.on.device->drain(back.on.stream);
  { const result_ring next{back.on.device, {.slot_bytes = 1}}; }
  CHECK(back.on.device->allocated_bytes(memory_kind::staging) == 0);
  CHECK(back.on.device->freed_in_use() == 0);
}

TEST_CASE("result ring: its destruction frees every stream, event and memory", "[results][host]") {
  const scripted on;
  const std::size_t before = on.device->handles();
  { const result_ring results{on.device, {.slot_bytes = bytes, .slots = 5}}; }
  CHECK(on.device->handles() == before);
  CHECK(on.device->allocated_bytes(memory_kind::staging) == 0);
}

TEST_CASE("result ring: without memory it is not made, and says so", "[results][host]") {
  const scripted on;
  on.device->limit(memory_kind::staging, 100);
  CHECK_THROWS_AS((result_ring{on.device, {.slot_bytes = bytes, .slots = 2}}), out_of_memory);
}

TEST_CASE("result ring: both sides see a push that the device refuses, after the good results",
          "[results][host]") {
  const auto call = GENERATE(device_call::record, device_call::wait, device_call::copy_back);
  CAPTURE(static_cast<int>(call));
  const returning back{4};
  auto first = back.push(10);
  auto second = back.push(11);
  back.on.device->fail_call(call, 1);
  const std::string why =
      "the results stage failed in epoch 5, batch 12: the scripted device fails this "
      "call as told";
  CHECK(message_of<stage_error>([&] { (void)back.push(12); }) == why);
  CHECK(message_of<stage_error>([&] { (void)back.push(13); }) == why);
  for (std::uint64_t batch = 10; batch < 12; ++batch) {
    const auto seen = back.results->next();
    REQUIRE(seen);
    CHECK(is_whole(*seen));
    CHECK(seen->tag().batch == batch);
  }
  CHECK(message_of<stage_error>([&] { (void)back.results->next(); }) == why);
  CHECK(message_of<stage_error>([&] { (void)back.results->try_next(); }) == why);
}

TEST_CASE("result ring: work after a refused push still waits for the part of it that was issued",
          "[results][host]") {
  const returning back;
  back.on.device->hold_copies_back();
  back.on.device->fail_call(device_call::record, 2);  // the one after the copy
  CHECK_THROWS_AS((void)back.push(), stage_error);
  std::uint64_t copied = 0;
  back.on.device->launch(back.on.stream, [&] { copied = back.on.device->completed_copies_back(); });
  back.on.device->wait_for_started_copies_back(1);
  back.on.device->allow_all_copies_back();
  back.on.device->drain(back.on.stream);
  CHECK(copied == 1);
}

TEST_CASE("result ring: if the stream cannot be made to wait for a copy, its lease blocks",
          "[results][host]") {
  const log_capture log;
  returning back;
  complete_copies_when_waited_for(back);
  auto copying = back.push();
  back.on.device->fail_call(device_call::wait, 1);
  copying.reset();
  CHECK(back.on.device->completed_copies_back() == 1);
  CHECK_THROWS_AS((void)back.push(), stage_error);
}

TEST_CASE("result ring: a push that is refused blocks, where the stream cannot be made to wait",
          "[results][host]") {
  const log_capture log;
  returning back;
  complete_copies_when_waited_for(back);
  back.on.device->fail_call(device_call::record, 2);  // the one after the copy
  back.on.device->fail_call(device_call::wait, 2);    // the consumer's, for what was issued
  CHECK_THROWS_AS((void)back.push(), stage_error);
  CHECK(back.on.device->completed_copies_back() == 1);
}

TEST_CASE("result ring: both sides get the error of a failed copy, with its cause",
          "[results][host]") {
  const returning back{3};
  (void)back.push(10);
  (void)back.push(11);
  (void)back.push(12);
  CHECK(back.results->next());
  auto pusher = std::async(std::launch::async, [&] {
    try {
      while (back.push(13)) continue;
    } catch (const stage_error& failure) {
      return failure.where().batch;
    }
    return std::uint64_t{0};
  });
  back.on.device->fail_call(device_call::is_done, 1);
  CHECK(message_of<stage_error>([&] { (void)back.results->next(); }) ==
        "the results stage failed in epoch 5, batch 11: the scripted device fails this "
        "call as told");
  CHECK(pusher.get() == 11);
  CHECK_THROWS_AS((void)back.results->next(), stage_error);
}

TEST_CASE("result ring: whichever call is refused, nothing is freed in use, and no result is torn",
          "[results][host]") {
  const auto call = GENERATE(device_call::copy_back, device_call::record, device_call::wait,
                             device_call::is_done, device_call::sync);
  const std::uint64_t times = GENERATE(1U, 2U, 4U);
  for (std::uint64_t nth = 1; nth <= 10; ++nth) {
    CAPTURE(static_cast<int>(call), nth, times);
    const log_capture log;
    returning back;
    back.on.device->fail_call(call, nth, times);
    bool failed = false;
    try {
      for (std::uint64_t i = 0; i < 6; ++i) {
        (void)back.push(i);
        const auto seen = back.results->next();
        REQUIRE(seen);
        CHECK(is_whole(*seen));
        CHECK(seen->tag().batch == i);
      }
    } catch (const stage_error&) {
      failed = true;
    }
    if (failed) {
      CHECK_THROWS_AS((void)back.push(), stage_error);
      CHECK_THROWS_AS((void)back.results->next(), stage_error);
    }
    back.results.reset();
    CHECK(back.on.device->freed_in_use() == 0);
    back.on.device->drain();  // where every wait was refused, the source may still be read
  }
}

TEST_CASE("result ring: a child of fork destroys it and its leases, and does nothing",
          "[results][host]") {
  returning back;
  auto copying = back.push();
  auto held = back.results->next();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // ends a child that hangs
    held.reset();
    copying.reset();
    back.results.reset();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(held);
  CHECK(is_whole(*held));
}
