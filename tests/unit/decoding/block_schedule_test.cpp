/// Tests which blocks each ticket brings.

#include "decoding/block_schedule.hpp"

#include <feedline/arrays/windows.hpp>
#include <feedline/sampler/sequential.hpp>

#include "decoding/carried_blocks.hpp"
#include "decoding/choice.hpp"
#include "sampler/chunk_order.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/coded_chunks.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

constexpr std::size_t fields = 3;
constexpr std::size_t table_at = 512;

std::shared_ptr<block_plan> make_plan_of(const sampler& order, std::uint64_t samples,
                                         std::uint64_t rows, std::size_t loads_bytes,
                                         std::uint64_t slot_samples, std::uint64_t ahead = 0) {
  const dataset_ptr data = make_encoded(make_identity_rows(samples, 10), rows);
  std::string why;
  auto made = std::make_shared<block_plan>(block_plan{
      .blocks = data->encoded(),
      .order = *block_order::of({order, {.positions = order.size(samples)}}, samples, rows, why),
      .fields = fields,
      .loads_bytes = loads_bytes,
      .max_loads = 100 * fields,
      .max_group = 100,
      .usual_bytes = rows * 10});
  size_store(*made, slot_samples, ahead);
  return made;
}

/// A ring of slots that blocks are loaded into, like the device's.
struct store {
  std::vector<std::uint64_t> holds;  ///< for each slot: index in the order of its block, or none
  static constexpr std::uint64_t none = UINT64_MAX;

  explicit store(const block_plan& plan) : holds(plan.places, none) {}
  void load(std::uint64_t place) { holds[place % holds.size()] = place; }
  bool has(std::uint64_t place) const { return holds[place % holds.size()] == place; }
};

constexpr std::size_t circulating = 4;

/// Slots that a schedule gives blocks to, each in the memory of the one before.
struct scheduled {
  explicit scheduled(std::shared_ptr<block_plan> plan, bool fills = true)
      : plan{std::move(plan)},
        memory(table_at + this->plan->loads_bytes),
        schedule{this->plan, table_at, reader, fills} {
    slot.data = memory.data();
  }
  void begin(std::uint64_t first, std::uint64_t end, bool begins_pass = false) {
    schedule.begin(pass, begins_pass, position{first}, position{end});
  }
  /// Blocks that the ticket's samples need; whether they are all.
  bool add() {
    const bool all = schedule.add(slot, slot.work);
    blocks = std::static_pointer_cast<carried_blocks>(slot.work.blocks);
    return all;
  }
  bool is_due() { return schedule.wants_slot(circulating); }
  /// Blocks for later tickets.
  void add_ahead() {
    schedule.add_ahead(slot, slot.work);
    blocks = std::static_pointer_cast<carried_blocks>(slot.work.blocks);
  }
  /// Bytes of the blocks in the slot, with their table.
  [[nodiscard]] std::size_t bytes() const {
    if (blocks->loads == 0) return 0;
    const auto* last =
        reinterpret_cast<const block_load*>(slot.data + table_at) + blocks->loads * fields - 1;
    return std::size_t{last->at} * 16 + block_plan::rounded(last->bytes) - table_at;
  }
  /// Blocks that a ticket brings: for its samples, and after them.
  std::uint64_t bring(std::uint64_t first, std::uint64_t end) {
    begin(first, end, first == 0);
    std::uint64_t loads = 0;
    for (bool is_complete = false; !is_complete;) {
      is_complete = add();
      loads += blocks->loads;
      CHECK(blocks->needed_end == (is_complete ? (end - 1) / 100 * 10 + 10 : 0));
    }
    while (is_due()) {
      add_ahead();
      loads += blocks->loads;
    }
    return loads;
  }

  std::shared_ptr<block_plan> plan;
  std::vector<std::byte> memory;
  block_reader reader{plan, table_at};
  block_schedule schedule;
  epoch_pass pass{0};
  staging_slot slot{std::make_shared<scripted_device>()};
  std::shared_ptr<carried_blocks> blocks;  ///< blocks of the last slot
};

}  // namespace

TEST_CASE("block_schedule: each ticket finds its blocks in the store, however tickets are cut",
          "[decoding][host]") {
  const std::uint64_t samples = GENERATE(200U, 331U);
  const std::uint64_t rows = GENERATE(3U, 10U);
  const std::uint64_t windows = GENERATE(0U, 2U, 5U, 12U);
  const std::uint64_t slot_samples = GENERATE(4U, 25U, 90U);
  const std::uint64_t begin_at = GENERATE(0U, 57U);
  const std::size_t room = GENERATE(600U, 100'000U);  // for a block or two, or for all
  const std::uint64_t ahead = GENERATE(0U, 1U, 7U, 1000U);
  CAPTURE(samples, rows, windows, slot_samples, begin_at, room, ahead);
  bool begun = false;
  const sampler order = windows == 0 ? sampler{sequential{}} : chunk_order{8, rows, windows};
  const auto plan = make_plan_of(order, samples, rows, room, slot_samples, ahead);
  scheduled with{plan};
  store held{*plan};
  std::uint64_t next = plan->order.window_of(0, position{begin_at}).first_place;
  for (std::uint64_t first = begin_at; first < samples; first += slot_samples) {
    const std::uint64_t end = std::min(first + slot_samples, samples);
    with.begin(first, end, first == begin_at);
    for (bool complete = false; !complete;) {
      complete = with.add();
      REQUIRE((complete || with.blocks->loads != 0));
      CHECK(with.bytes() <= room);
      CHECK((with.blocks->loads == 0 || with.blocks->first_load == next));
      CHECK(with.blocks->begins_pass == (next == with.blocks->first_load && !begun));
      begun = true;
      for (std::uint64_t i = 0; i < with.blocks->loads; ++i) held.load(next++);
    }
    std::vector<sample_index> located(end - first);
    plan->order.locate(0, position{first}, located);
    for (const sample_index each : located) CHECK(held.has(each.value / rows));
    while (with.is_due()) {
      with.add_ahead();
      REQUIRE(with.blocks->loads != 0);
      CHECK(with.bytes() <= room);
      CHECK(with.blocks->first_load == next);
      CHECK((with.blocks->is_ahead() && with.blocks->needed_end == 0));
      for (std::uint64_t i = 0; i < with.blocks->loads; ++i) held.load(next++);
    }
  }
  CHECK(next == plan->order.blocks());
}

TEST_CASE("block_schedule: blocks for later tickets leave a slot free for samples",
          "[decoding][host]") {
  const auto plan = make_plan_of(chunk_order{8, 10, 10}, 1000, 10, 600, 20, 200);
  scheduled with{plan};
  CHECK(with.bring(0, 20) == 10);
  with.begin(20, 40);
  REQUIRE(with.add());
  std::vector<std::unique_ptr<staging_slot>> slots;
  while (with.is_due()) {
    REQUIRE(slots.size() < circulating);
    slots.push_back(std::make_unique<staging_slot>(std::make_shared<scripted_device>()));
    slots.back()->data = with.memory.data();
    with.schedule.add_ahead(*slots.back(), slots.back()->work);
    slots.back()->state = staging_state::filling;
  }
  CHECK(slots.size() == circulating - 1);
  slots.front()->state = staging_state::filled;
  CHECK_FALSE(with.is_due());
  slots.front()->state = staging_state::copying;
  CHECK(with.is_due());
}

TEST_CASE("block_schedule: a window comes evenly while the one before it is delivered",
          "[decoding][host]") {
  const auto plan = make_plan_of(chunk_order{8, 10, 4}, 400, 10, 100'000, 10);
  scheduled with{plan};
  std::vector<std::uint64_t> loads;
  for (std::uint64_t first = 0; first < 400; first += 10)
    loads.push_back(with.bring(first, first + 10));
  CHECK(loads[0] == 10);  // its own window: no ticket waits for more
  CHECK(loads[1] == 2);
  CHECK(std::all_of(loads.begin() + 2, loads.begin() + 30, [](auto each) { return each == 1; }));
  CHECK(std::all_of(loads.begin() + 30, loads.end(), [](auto each) { return each == 0; }));

  CHECK(with.bring(0, 10) == 10);  // another pass counts on none of these
}

TEST_CASE("block_schedule: blocks come ahead of their windows, faster than samples",
          "[decoding][host]") {
  const std::uint64_t ahead = 20;
  const bool has_room = GENERATE(true, false);
  const bool fills = GENERATE(true, false);
  const std::size_t room = has_room ? 100'000 : block_plan::table_bytes(4 * fields) + 988;
  const auto plan = make_plan_of(chunk_order{8, 10, 10}, 1000, 10, room, 20, ahead);
  REQUIRE(plan->group == 6);
  scheduled with{plan, fills};
  std::vector<std::uint64_t> loads;
  for (std::uint64_t first = 0; first < 1000; first += 20)
    loads.push_back(with.bring(first, first + 20));
  const std::vector<std::uint64_t> begin{loads.begin(), loads.begin() + 16};
  if (has_room && fills) {  // all that may come does: four passed, a window of ten, and those ahead
    CHECK(begin == std::vector<std::uint64_t>{10, 24, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  } else {  // four times the two that samples pass
    CHECK(begin == std::vector<std::uint64_t>{10, 8, 8, 8, 6, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  }
}

TEST_CASE("block_schedule: windows have their full lead from the second ticket on",
          "[decoding][host]") {
  const auto array =
      make_coded_array({.name = "x", .shape = {100, 8}, .dimensions = {"t", "x"}, .chunk = {4, 8}},
                       std::make_shared<coded_chunks::record>());
  const dataset_ptr set = make_windows({{"t", 6}}, {{"x", {array}}});
  const auto windows = std::dynamic_pointer_cast<const window_blocks>(set->encoded());
  std::string why;
  const std::uint64_t samples = set->size();
  const auto plan = std::make_shared<block_plan>(
      block_plan{.blocks = windows,
                 .order = *block_order::of({sequential{}, {.positions = samples}}, samples, 1, why),
                 .fields = 1,
                 .loads_bytes = 1 << 16,
                 .max_loads = 100,
                 .max_group = 8,
                 .usual_bytes = 100,
                 .windows = windows,
                 .kept_bytes = 1 << 20});
  size_store(*plan, 2, 40);
  std::vector<std::byte> memory(table_at + plan->loads_bytes);
  block_reader reader{plan, table_at};
  block_schedule schedule{plan, table_at, reader, false};
  staging_slot slot{std::make_shared<scripted_device>()};
  slot.data = memory.data();
  const auto loads_of = [&](std::uint64_t first) {
    schedule.begin(epoch_pass{0}, first == 0, position{first}, position{first + 2});
    std::uint64_t loads = 0;
    const auto count = [&] {
      loads += std::static_pointer_cast<carried_blocks>(slot.work.blocks)->loads;
    };
    for (bool is_complete = false; !is_complete; count())
      is_complete = schedule.add(slot, slot.work);
    while (schedule.wants_slot(circulating)) {
      schedule.add_ahead(slot, slot.work);
      count();
    }
    return loads;
  };
  CHECK(loads_of(0) == 2);
  CHECK(loads_of(2) == 4 + 1 + 40 - 2);
}

TEST_CASE("block_schedule: with the lead gained blocks come when they are worth a piece",
          "[decoding][host]") {
  const auto plan = make_plan_of(sequential{}, 4000, 10, 100'000, 20, 80);
  scheduled with{plan};
  std::vector<std::uint64_t> loads;
  for (std::uint64_t first = 0; first < 4000; first += 20) {
    with.begin(first, first + 20, first == 0);
    REQUIRE(with.add());
    CHECK((first < 40 || with.blocks->loads == 0));
    loads.push_back(with.blocks->loads);
    if (!with.is_due()) continue;
    with.add_ahead();
    loads.back() += with.blocks->loads;
  }
  // Eighty ahead: ten are worth it, of which five tickets pass.
  const std::vector<std::uint64_t> middle{loads.begin() + 50, loads.begin() + 60};
  CHECK(std::count(middle.begin(), middle.end(), 10U) == 2);
  CHECK(std::count(middle.begin(), middle.end(), 0U) == 8);
  CHECK(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}) == 400);
}

TEST_CASE("block_schedule: the table says where blocks lie, and that none was read yet",
          "[decoding][host]") {
  const auto plan = make_plan_of(sequential{}, 60, 10, 100'000, 30);
  scheduled with{plan};
  with.begin(0, 30, true);
  REQUIRE(with.add());
  REQUIRE(with.blocks->loads == 3);
  const auto* load = reinterpret_cast<const block_load*>(with.slot.data + table_at);
  std::size_t at = table_at + 512;  // after a table of 9 loads of 36 bytes, rounded up
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (std::uint32_t field = 0; field < fields; ++field, ++load) {
      const auto stored = plan->blocks->stored(field, block);
      CHECK(load->field == field);
      CHECK(load->place == block);
      CHECK(load->bytes == stored.bytes);
      CHECK(load->skipped == stored.skipped);
      CHECK(load->missing == 1);
      CHECK(std::size_t{load->at} * 16 == at);
      at += (stored.bytes + 15) / 16 * 16;
    }
  }
  CHECK(with.bytes() == at - table_at);
}
