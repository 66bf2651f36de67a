#include "support/device_contract.hpp"

#include "device/owned.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace feedline::test {
namespace {

constexpr std::size_t bytes = 1 << 20;

bool all_are(const std::vector<std::byte>& memory, std::byte value) {
  return std::all_of(memory.begin(), memory.end(), [&](std::byte each) { return each == value; });
}

void check_memory(const device_under_test& subject) {
  for (const auto kind : {memory_kind::staging, memory_kind::device}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{257}, bytes}) {
      const detail::device_memory memory{subject.device, kind, size};
      REQUIRE(memory.data() != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % 256 == 0);
      if (kind == memory_kind::device) {
        CHECK(all_are(subject.read_back(memory.data(), size), std::byte{0}));
      } else {
        CHECK(all_are({memory.data(), memory.data() + size}, std::byte{0}));
        std::memset(memory.data(), 1, size);
      }
    }
  }
}

void check_events(const device_under_test& subject) {
  device& device = *subject.device;
  const detail::stream stream{subject.device};
  const detail::event event{subject.device};
  CHECK(device.is_done(event.get()));  // never recorded
  device.sync(event.get());
  device.wait(stream.get(), event.get());
  for (int i = 0; i < 3; ++i) {
    device.record(event.get(), stream.get());
    device.sync(event.get());
    CHECK(device.is_done(event.get()));
  }
}

void check_copies(const device_under_test& subject) {
  device& device = *subject.device;
  const detail::device_memory staging{subject.device, memory_kind::staging, bytes};
  const detail::device_memory first{subject.device, memory_kind::device, bytes};
  const detail::device_memory second{subject.device, memory_kind::device, bytes};
  const detail::stream stream{subject.device};
  const detail::event copied{subject.device};
  const detail::event used{subject.device};
  for (const auto value : {std::byte{1}, std::byte{2}, std::byte{3}}) {
    std::memset(staging.data(), static_cast<int>(value), bytes);
    device.copy(first.data(), staging.data(), bytes, stream.get());
    device.copy(second.data(), staging.data(), bytes / 2, stream.get());
    device.record(copied.get(), stream.get());
    device.wait(subject.stream, copied.get());
    device.record(used.get(), subject.stream);  // done after the copies, by way of the wait
    device.sync(used.get());
    CHECK(device.is_done(copied.get()));
    CHECK(all_are(subject.read_back(first.data(), bytes), value));
    CHECK(all_are(subject.read_back(second.data(), bytes / 2), value));
    CHECK(all_are(subject.read_back(second.data() + bytes / 2, bytes / 2), std::byte{0}));
  }
}

}  // namespace

void check_device_contract(const device_under_test& subject) {
  CHECK(!subject.device->capabilities().name.empty());
  CHECK_NOTHROW(subject.device->check(subject.stream));
  if (subject.stream) CHECK_THROWS_AS(subject.device->check({}), usage_error);
  check_memory(subject);
  check_events(subject);
  check_copies(subject);
}

}  // namespace feedline::test
