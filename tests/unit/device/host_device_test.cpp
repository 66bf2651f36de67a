#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace feedline;

TEST_CASE("host device: its consumer reads staging memory, and it needs no stream",
          "[device][host]") {
  const auto capabilities = make_host_device()->capabilities();
  CHECK(capabilities.name == "host");
  CHECK(capabilities.reads_staging);
}

TEST_CASE("host device: memory of both kinds is zeroed and page-aligned", "[device][host]") {
  const auto kind = GENERATE(memory_kind::staging, memory_kind::device);
  const std::size_t bytes = GENERATE(1u, 4096u, 100'000u);
  const auto device = make_host_device();
  void* const memory = device->allocate(kind, bytes);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) %
            static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) ==
        0);
  const auto* const first = static_cast<const std::byte*>(memory);
  CHECK(std::all_of(first, first + bytes, [](std::byte byte) { return byte == std::byte{0}; }));
  device->free(kind, memory, bytes);
  device->free(kind, nullptr, bytes);
}

TEST_CASE("host device: memory it does not have is out_of_memory, with bytes and kind",
          "[device][host]") {
  if (test::sanitized) FEEDLINE_SKIP("a sanitizer's allocator does not refuse");
  const std::size_t bytes = std::size_t{1} << 62;
  const auto device = make_host_device();
  CHECK(test::message_of<out_of_memory>(
            [&] { (void)device->allocate(memory_kind::staging, bytes); }) ==
        "the host has no 4611686018427387904 bytes for staging memory: lower batches_per_slot or "
        "the number of slots");
  try {
    (void)device->allocate(memory_kind::device, bytes);
  } catch (const out_of_memory& error) {
    CHECK(error.bytes() == bytes);
    CHECK(error.kind() == memory_kind::device);
  }
}

TEST_CASE("host device: copies are done when issued, and events at once", "[device][host]") {
  const auto device = make_host_device();
  const std::vector<int> from{1, 2, 3};
  std::vector<int> to(3);
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  CHECK(device->is_done(event));
  device->copy(to.data(), from.data(), sizeof(int) * 3, stream);
  CHECK(to == from);
  device->record(event, stream);
  device->wait(stream, event);
  CHECK(device->is_done(event));
  device->sync(event);
  device->destroy_event(event);
  device->destroy_stream(stream);
}

TEST_CASE("host device: a consumer's stream is refused, because there are none", "[device][host]") {
  const auto device = make_host_device();
  CHECK_NOTHROW(device->check({}));
  int queue = 0;
  CHECK(test::message_of<usage_error>([&] { device->check(stream_ref::from_raw(&queue)); }) ==
        "the host device has no streams: name none, as in loader.epoch(n)");
}
