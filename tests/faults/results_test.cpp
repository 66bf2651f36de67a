/// The way back under faults: any call that the device refuses, any allocation that fails.

#include <feedline/error.hpp>
#include <feedline/results/ring.hpp>

#include "device/owned.hpp"
#include "faults/starved_loader.hpp"
#include "faults/system_calls.hpp"
#include "support/checks/log_capture.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t bytes = 64;
constexpr std::uint64_t pushes = 6;

/// Pushes results through a ring of two slots, and takes them. @return Those that came whole, in
/// order.
std::uint64_t send(const device_ptr& device, stream_ref stream, std::byte* source) {
  result_ring ring{device, {.slot_bytes = bytes, .slots = 2}};
  std::uint64_t whole = 0;
  for (std::uint64_t i = 0; i < pushes; ++i) {
    const auto lease = ring.push(source, bytes, stream, {.batch = i});
    const auto taken = ring.next();
    if (!taken || taken->tag().batch != i) continue;
    const auto held = taken->bytes();
    const bool equal =
        std::all_of(held.begin(), held.end(), [](std::byte each) { return each == std::byte{8}; });
    whole += equal ? 1 : 0;
  }
  ring.finish();
  return whole;
}

}  // namespace

TEST_CASE("faults: a device may refuse any call of a result ring", "[results][host]") {
  const std::uint64_t times = GENERATE(1U, 2U, 1'000'000U);
  std::uint64_t nth = 1;
  for (bool came = true; came && nth < 500; ++nth) {
    CAPTURE(nth, times);
    const log_capture log;
    const scripted on;
    scripted_device& device = *on.device;
    const detail::device_memory source{on.device, memory_kind::device, bytes};
    std::memset(source.data(), 8, bytes);
    device.fail_any_call(nth, times);
    std::optional<std::string> failure;
    std::uint64_t whole = 0;
    try {
      whole = send(on.device, on.stream, source.data());
    } catch (const error& refusal) {
      failure = refusal.what();
    }
    came = device.any_call_failed();
    device.fail_any_call(0);
    device.drain();  // where every wait was refused, the source may still be read
    if (failure) CHECK(failure->find("fails this call as told") != std::string::npos);
    if (!failure) CHECK(whole == pushes);
    CHECK(device.freed_in_use() == 0);
    CHECK(device.handles() == 1);  // the consumer's stream
    if (log.text().find(" are never freed: ") == std::string::npos)
      CHECK(device.allocated_bytes(memory_kind::staging) == 0);
  }
  CHECK(nth > 20);
  CHECK(nth < 500);
}

TEST_CASE("faults: any allocation of a result ring may fail", "[results][host]") {
  const std::uint64_t times = GENERATE(1U, 1'000'000U);
  const device_ptr device = std::make_shared<copying_host>();
  std::vector<std::byte> source(bytes, std::byte{8});
  {
    CAPTURE(0, times);
    REQUIRE(send(device, {}, source.data()) == pushes);
  }
  const std::int64_t before = living_blocks();
  std::uint64_t nth = 1;
  for (bool came = true; came && nth < 500; ++nth) {
    std::uint64_t whole = 0;
    bool failed = false;
    allocations().arm(nth, times);
    try {
      whole = send(device, {}, source.data());
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const error&) {
      failed = true;
    }
    allocations().disarm();
    came = allocations().calls() >= nth;
    const std::int64_t left = living_blocks() - before;  // excludes what CAPTURE holds
    CAPTURE(nth, times);
    CHECK((failed || whole == pushes));
    CHECK(left == 0);
  }
  CHECK(nth > 5);
  CHECK(nth < 500);
}
