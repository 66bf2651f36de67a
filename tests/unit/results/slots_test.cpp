#include "results/slots.hpp"

#include <feedline/device/host_device.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::scripted;

TEST_CASE("result slots: each transition starts from one state, and from no other",
          "[results][host]") {
  struct transition {
    const char* name;
    result_state from;
    result_state to;
    std::function<void(result_slots&)> go;
  };
  const std::uint32_t value = 7;
  std::vector<result> kept;
  const std::array<transition, 3> transitions{{
      {"push", result_state::free, result_state::copying,
       [&](result_slots& slots) { (void)slots.push(&value, sizeof value, {}, {}, false); }},
      {"hold", result_state::copying, result_state::held,
       [&](result_slots& slots) { kept.push_back(slots.hold(slot_index{0})); }},
      {"recycle", result_state::held, result_state::free,
       [](result_slots& slots) { slots.recycle(slot_index{0}); }},
  }};
  for (const transition& each : transitions) {
    for (const auto state : {result_state::free, result_state::copying, result_state::held}) {
      CAPTURE(each.name, static_cast<int>(state));
      const auto slots = result_slots::make(make_host_device(), {.slot_bytes = 8, .slots = 1});
      auto& now = (*slots)[slot_index{0}].state;
      if (each.from != result_state::free) {
        const auto copying = slots->push(&value, sizeof value, {}, {}, false);
        REQUIRE(slots->arrived(false));
      }
      now.store(state);
      if (state == each.from) {
        CHECK_NOTHROW(each.go(*slots));
        CHECK(now.load() == each.to);
      } else {
        CHECK_THROWS_AS(each.go(*slots), std::logic_error);
        CHECK(now.load() == state);
      }
      if (!kept.empty()) now.store(result_state::held);  // the one state that a result ends in
      kept.clear();
    }
  }
}

TEST_CASE("result slots: a lease on a source asks nothing of the stream once the slot carries more",
          "[results][host]") {
  const scripted on;
  const device_memory source{on.device, memory_kind::device, 8};
  const auto slots = result_slots::make(on.device, {.slot_bytes = 8, .slots = 1});
  auto first = slots->push(source.data(), 8, on.stream, {}, true);
  { const result taken = slots->hold(slots->arrived(true).value()); }
  auto second = slots->push(source.data(), 8, on.stream, {}, true);
  on.device->fail_call(feedline::test::device_call::wait, 1);
  first.reset();  // its copy is known to be done: no wait, and no failure
  CHECK_NOTHROW((void)slots->push(source.data(), 8, on.stream, {}, false));  // full, not failed
  second.reset();                                                            // this one is refused
  CHECK_THROWS_AS((void)slots->push(source.data(), 8, on.stream, {}, false), stage_error);
}
