/// Slots of samples pass blocks that are ahead.

#include "staging/staging_ring.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::recording_device;

namespace {

constexpr std::size_t slot_bytes = 512;

/// Blocks of a slot, numbered.
struct numbered_blocks final : slot_blocks {
  numbered_blocks(std::uint64_t first, std::uint32_t count, bool ahead)
      : first{first}, count{count}, ahead{ahead} {}
  std::uint32_t requests() const noexcept override { return count; }
  void read(staging_slot&, std::uint32_t) const noexcept override {}
  position needed_at(std::uint32_t number) const noexcept override {
    return position{first + number};
  }
  bool is_ahead() const noexcept override { return ahead; }
  bool may_pass(const slot_blocks& other) const noexcept override {
    return count == 0 && needed_end <= static_cast<const numbered_blocks&>(other).first;
  }

  std::uint64_t first;
  std::uint32_t count;
  bool ahead;
  std::uint64_t needed_end = 0;
};

}  // namespace

TEST_CASE("staging ring: a slot passes blocks that are ahead if it needs none of them",
          "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 4, slot_bytes};
  const auto pass = std::make_shared<epoch_pass>(0);
  const auto open = [&](slot_work work) {
    const slot_index slot = ring.claim().value();
    ring.open(slot, std::move(work));
    return slot;
  };
  const auto fill_and_take = [&](slot_index slot) {
    (void)ring.finish_request(slot);
    const auto taken = ring.next_filled();
    REQUIRE(taken.has_value());
    ring.recycle(*taken);
    return *taken;
  };
  const auto ahead = [&](std::uint64_t first) {
    return slot_work{.pass = pass,
                     .ends_ticket = false,
                     .blocks = std::make_shared<numbered_blocks>(first, 1, true)};
  };
  const slot_index held = open(ahead(7));
  const auto needs = std::make_shared<numbered_blocks>(0, 0, false);
  needs->needed_end = 7;
  slot_work passing{.pass = pass, .samples = 1, .blocks = needs};

  SECTION("as often as slots do") {
    for (int i = 0; i < 5; ++i) {
      const slot_index slot = open(passing);
      CHECK(fill_and_take(slot) == slot);
    }
    CHECK(fill_and_take(held) == held);
  }
  SECTION("and several of these, of which none passes another") {
    const slot_index second = open(ahead(8));
    (void)ring.finish_request(second);
    const slot_index slot = open(passing);
    CHECK(fill_and_take(slot) == slot);
    CHECK(fill_and_take(held) == held);
    CHECK(ring.next_filled() == second);
  }
  SECTION("but not if it needs one, or brings blocks, or is of another run") {
    const int reason = GENERATE(0, 1, 2);
    if (reason == 0) needs->needed_end = 8;
    if (reason == 1) needs->count = 1;
    if (reason == 2) passing.pass = std::make_shared<epoch_pass>(0);
    const slot_index slot = open(passing);
    for (std::uint32_t i = passing.requests(); i > 0; --i) (void)ring.finish_request(slot);
    CHECK(fill_and_take(held) == held);
    CHECK(ring.next_filled() == slot);
  }
  SECTION("nor samples that are not read yet") {
    const slot_index unread = open(passing);
    const slot_index slot = open(passing);
    (void)ring.finish_request(slot);
    CHECK(fill_and_take(unread) == unread);
    CHECK(ring.next_filled() == slot);
    CHECK(fill_and_take(held) == held);
  }
  SECTION("a thread that waits for a slot notices it") {
    auto waiting = std::async(std::launch::async, [&] { return ring.next_filled(); });
    const slot_index slot = open(passing);
    (void)ring.finish_request(slot);
    CHECK(waiting.get() == slot);
  }
  SECTION("nor blocks that its own ticket needs") {
    slot_work needed = ahead(7);
    needed.blocks = std::make_shared<numbered_blocks>(7, 1, false);
    CHECK(fill_and_take(held) == held);
    const slot_index before = open(needed);
    const slot_index slot = open(passing);
    (void)ring.finish_request(slot);
    CHECK(fill_and_take(before) == before);
    CHECK(ring.next_filled() == slot);
  }
}
