#include "device/stream_timer.hpp"

#include "batch/exposed_time.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/scripted_device.hpp"
#include "transfer/copy_meter.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

TEST_CASE("stream timer: a time is known once the stream has passed both marks",
          "[statistics][host]") {
  const scripted on;
  detail::stream_timer timer{on.device, 2};
  on.device->hold_work();
  REQUIRE(timer.begin(on.stream));
  on.device->launch(on.stream, [] { std::this_thread::sleep_for(20ms); });
  timer.end(on.stream);
  CHECK(timer.under_way() == 1);
  CHECK_FALSE(timer.take());
  on.device->allow_all_work();
  on.device->drain(on.stream);
  const auto time = timer.take();
  REQUIRE(time);
  CHECK(*time >= 10ms);
  CHECK(timer.under_way() == 0);
  CHECK_FALSE(timer.take());
}

TEST_CASE("stream timer: measures no more at once than it has pairs, and reuses them",
          "[statistics][host]") {
  const scripted on;
  detail::stream_timer timer{on.device, 2};
  on.device->hold_work();
  on.device->launch(on.stream, [] {});
  for (int i = 0; i < 2; ++i) {
    REQUIRE(timer.begin(on.stream));
    timer.end(on.stream);
  }
  CHECK_FALSE(timer.begin(on.stream));
  on.device->allow_all_work();
  on.device->drain(on.stream);
  for (int i = 0; i < 5; ++i) {
    CHECK(timer.take());
    REQUIRE(timer.begin(on.stream));
    timer.end(on.stream);
    on.device->drain(on.stream);
  }
}

TEST_CASE("stream timer: a device that tells no times is not measured", "[statistics][host]") {
  const auto device = std::make_shared<recording_device>();
  const stream_ref stream = device->make_stream();
  detail::stream_timer timer{device, 2};
  CHECK_FALSE(timer.works());
  CHECK_FALSE(timer.begin(stream));
  timer.end(stream);
  CHECK_FALSE(timer.take());
  CHECK(device->calls().empty());
}

TEST_CASE("exposed time: a slot that is there already is not measured", "[statistics][host]") {
  const scripted on;
  detail::exposed_time exposed{on.device};
  const detail::event ready{on.device};
  const detail::stream copies{on.device};
  on.device->record(ready.get(), copies.get());
  on.device->sync(ready.get());
  exposed.stream_waits(on.stream, ready.get());
  exposed.stream_goes_on(on.stream);
  on.device->drain(on.stream);
  CHECK(exposed.look().waits == 0);
}

TEST_CASE("exposed time: begins where the stream has done its work, not where the host waits",
          "[statistics][host]") {
  const scripted on;
  detail::exposed_time exposed{on.device};
  const detail::event ready{on.device};
  const detail::stream copies{on.device};
  on.device->hold_work();
  on.device->launch(on.stream, [] {});
  exposed.host_waits(on.stream);
  std::this_thread::sleep_for(200ms);  // the host waits, and the stream is busy
  on.device->record(ready.get(), copies.get());
  on.device->sync(ready.get());
  exposed.stream_waits(on.stream, ready.get());
  on.device->wait(on.stream, ready.get());
  exposed.stream_goes_on(on.stream);
  CHECK(exposed.look().waits == 0);  // not passed yet
  on.device->allow_all_work();
  on.device->drain(on.stream);
  const auto seen = exposed.look();
  CHECK(seen.waits == 1);
  CHECK(seen.time < 150ms);
}

TEST_CASE("exposed time: a measured wait stands for those beside it that are not",
          "[statistics][host]") {
  const scripted on;
  detail::exposed_time exposed{on.device, 1h};
  const auto wait = [&] {
    exposed.host_waits(on.stream);
    exposed.stream_goes_on(on.stream);
    on.device->drain(on.stream);
  };
  for (int i = 0; i < 127; ++i) wait();  // in blocks of 1, 2, 4 .. 64
  const auto seen = exposed.look();
  CHECK(seen.waits == 127);
  CHECK(seen.unmeasured == 127 - 7);
  CHECK(seen.time > 0ns);
  exposed.host_waits(on.stream);
  exposed.give_up();
  CHECK(exposed.look().unmeasured == 127 - 7);
  for (int i = 0; i < 126; ++i) wait();
  CHECK(exposed.look().waits <= 127 + 126);
}

TEST_CASE("exposed time: a wait whose block was measured before adds its time at once",
          "[statistics][host]") {
  const scripted on;
  detail::exposed_time exposed{on.device, 1h};
  auto before = exposed.look();
  for (int i = 0; i < 127; ++i) {  // in blocks of 1, 2, 4 .. 64
    exposed.host_waits(on.stream);
    exposed.stream_goes_on(on.stream);
    on.device->drain(on.stream);
    const auto seen = exposed.look();
    CHECK((seen.waits > before.waits) == (seen.time > before.time));
    before = seen;
  }
  CHECK(before.waits == 127);
  CHECK(before.unmeasured == 127 - 7);
}

TEST_CASE("exposed time: if no events are left, the next measured wait stands for those before it",
          "[statistics][host]") {
  const scripted on;
  detail::exposed_time exposed{on.device, 0ns};
  const auto wait = [&] {
    exposed.host_waits(on.stream);
    exposed.stream_goes_on(on.stream);
  };
  on.device->hold_work();
  on.device->launch(on.stream, [] {});
  while (exposed.look().unmeasured < 3) wait();  // until no pair of events is left
  on.device->allow_all_work();
  on.device->drain(on.stream);
  const auto before = exposed.look();
  CHECK(before.waits > 3);
  exposed.host_waits(on.stream);
  std::this_thread::sleep_for(20ms);
  exposed.stream_goes_on(on.stream);
  on.device->drain(on.stream);
  const auto after = exposed.look();
  CHECK(after.waits == before.waits + 4);
  CHECK(after.unmeasured == 3);
  CHECK(after.time >= before.time + 4 * 10ms);  // the stream may come to its events late
}

TEST_CASE("exposed time: a wait that is given up does not count", "[statistics][host]") {
  const scripted on;
  detail::exposed_time exposed{on.device, 0ns};
  exposed.host_waits(on.stream);
  exposed.give_up();
  exposed.stream_goes_on(on.stream);
  on.device->drain(on.stream);
  CHECK(exposed.look().waits == 0);
  for (int i = 0; i < 100; ++i) {
    exposed.host_waits(on.stream);
    exposed.stream_goes_on(on.stream);
    on.device->drain(on.stream);
  }
  CHECK(exposed.look().waits == 100);
  CHECK(exposed.look().unmeasured == 0);
}

TEST_CASE("copy meter: tells the rate of large copies, and counts the bytes of all",
          "[statistics][host]") {
  const scripted on;
  detail::copy_meter meter{on.device};
  const std::size_t large = detail::copy_meter::min_bytes;
  const detail::device_memory from{on.device, memory_kind::staging, large};
  const detail::device_memory to{on.device, memory_kind::device, large};
  for (std::uint64_t i = 0; i < 2 * detail::copy_meter::interval; ++i) {
    meter.copy(to.data(), from.data(), large / 2, on.stream);
    on.device->drain(on.stream);
  }
  CHECK(meter.peak() == 0);  // too small to tell
  for (std::uint64_t i = 0; i <= 2 * detail::copy_meter::interval; ++i) {
    meter.copy(to.data(), from.data(), large, on.stream);
    on.device->drain(on.stream);
  }
  CHECK(meter.peak() > 0);
  CHECK(meter.bytes() == (3 * detail::copy_meter::interval + 1) * large);
}
