/// Checks that the scripted device is no more lenient than CUDA.

#include "support/devices/scripted_device.hpp"

#include "device/owned.hpp"
#include "support/checks/catch.hpp"

using namespace feedline;
using namespace feedline::test;

TEST_CASE("scripted device: a wait is for the recording before it, not for a later one",
          "[device][host]") {
  const scripted on;  // its stream is the first one made: it continues whenever it can
  const auto slow = on.device->make_stream();
  const auto fast = on.device->make_stream();
  const detail::event event{on.device};
  const detail::device_memory memory{on.device, memory_kind::device, 16};
  const detail::device_memory source{on.device, memory_kind::staging, 16};
  on.device->hold_work();
  on.device->launch(slow, [] {});
  on.device->record(event.get(), slow);
  on.device->wait(on.stream, event.get());
  on.device->copy(memory.data(), source.data(), 16, on.stream);

  on.device->record(event.get(), fast);
  on.device->copy(memory.data(), source.data(), 8, fast);
  on.device->drain(fast);
  CHECK(on.device->is_done(event.get()));   // state of the last recording
  CHECK(on.device->started_copies() == 1);  // the wait is for the other recording

  on.device->allow_all_work();
  on.device->drain(on.stream);
  CHECK(on.device->started_copies() == 2);
}

TEST_CASE("scripted device: an event that is destroyed is still waited for", "[device][host]") {
  const scripted on;
  const auto slow = on.device->make_stream();
  const auto fast = on.device->make_stream();
  const detail::device_memory memory{on.device, memory_kind::device, 16};
  const detail::device_memory source{on.device, memory_kind::staging, 16};
  on.device->hold_work();
  on.device->launch(slow, [] {});
  {
    const detail::event event{on.device};
    on.device->record(event.get(), slow);
    on.device->wait(on.stream, event.get());
  }
  on.device->copy(memory.data(), source.data(), 16, on.stream);
  on.device->copy(memory.data(), source.data(), 8, fast);
  on.device->drain(fast);
  CHECK(on.device->started_copies() == 1);
  on.device->allow_all_work();
  on.device->drain(on.stream);
}
