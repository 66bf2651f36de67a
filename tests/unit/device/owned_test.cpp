#include "device/owned.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

#include <memory>
#include <type_traits>
#include <utility>

using namespace feedline;
using feedline::detail::device_memory;
using feedline::test::scripted_device;

static_assert(!std::is_copy_constructible_v<device_memory> &&
              !std::is_copy_assignable_v<device_memory>);
static_assert(!std::is_copy_constructible_v<detail::event> &&
              !std::is_copy_assignable_v<detail::event>);
static_assert(!std::is_copy_constructible_v<detail::stream> &&
              !std::is_move_constructible_v<detail::stream>);

TEST_CASE("device memory: freed once, with the kind and bytes it was allocated with",
          "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  {
    const device_memory staging{device, memory_kind::staging, 100};
    const device_memory on_device{device, memory_kind::device, 300};
    CHECK(staging.bytes() == 100);
    CHECK(staging.data() != nullptr);
    CHECK(device->allocated_bytes(memory_kind::staging) == 100);
    CHECK(device->allocated_bytes(memory_kind::device) == 300);
  }
  CHECK(device->allocated_bytes(memory_kind::staging) == 0);
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
}

TEST_CASE("device memory: moving hands it over, and the target's old memory is freed",
          "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  device_memory first{device, memory_kind::device, 100};
  std::byte* const data = first.data();
  device_memory second{std::move(first)};
  CHECK(second.data() == data);
  CHECK(first.data() == nullptr);  // NOLINT(bugprone-use-after-move)
  CHECK(device->allocated_bytes(memory_kind::device) == 100);

  device_memory third{device, memory_kind::staging, 50};
  third = std::move(second);
  CHECK(third.data() == data);
  CHECK(third.bytes() == 100);
  CHECK(device->allocated_bytes(memory_kind::staging) == 0);
  third = device_memory{};
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
}

TEST_CASE("device memory: none was allocated if the device refuses", "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  device->fail_call(test::device_call::allocate, 1);
  CHECK_THROWS_AS((device_memory{device, memory_kind::device, 100}), out_of_memory);
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
}

TEST_CASE("owned handles: memory, events and streams keep their device alive, and end before it",
          "[device][host]") {
  auto device = std::make_shared<scripted_device>();
  const std::weak_ptr<scripted_device> watch = device;
  {
    const device_memory memory{device, memory_kind::staging, 16};
    device.reset();
    CHECK_FALSE(watch.expired());
  }
  CHECK(watch.expired());
  device = std::make_shared<scripted_device>();
  const std::weak_ptr<scripted_device> again = device;
  {
    const detail::event event{device};
    const detail::stream stream{device};
    CHECK(device->handles() == 2);
    CHECK(stream.get());
    device.reset();
    CHECK_FALSE(again.expired());
  }
  CHECK(again.expired());
}

TEST_CASE("owned handles: a moved event is destroyed once", "[device][host]") {
  const auto device = std::make_shared<scripted_device>();
  {
    detail::event first{device};
    const event_handle handle = first.get();
    const detail::event second{std::move(first)};
    CHECK(second.get() == handle);
    CHECK(first.get() == event_handle::none);  // NOLINT(bugprone-use-after-move)
    CHECK(device->handles() == 1);
  }
  CHECK(device->handles() == 0);
}
