/// Chunks of windows on the device: each is sent once while it is kept, and its own
/// group replaces none.

#include "decoding/window_planner.hpp"

#include <feedline/arrays/windows.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/coded_chunks.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

/// Windows of 2 to 3 chunks, of which the device keeps few.
std::shared_ptr<const block_plan> plan_of(std::uint32_t places) {
  const auto array =
      make_coded_array({.name = "x", .shape = {100, 8}, .dimensions = {"t", "x"}, .chunk = {4, 8}},
                       std::make_shared<coded_chunks::record>());
  const dataset_ptr set = make_windows({{"t", 6}}, {{"x", {array}}});
  const auto blocks = std::dynamic_pointer_cast<const window_blocks>(set->encoded());
  std::string why;
  const std::uint64_t samples = set->size();
  return std::make_shared<block_plan>(
      block_plan{.blocks = blocks,
                 .order = *block_order::of({sequential{}, {.positions = samples}}, samples, 1, why),
                 .fields = 1,
                 .loads_bytes = 1 << 16,
                 .max_loads = 100,
                 .max_group = 100,
                 .usual_bytes = 100,
                 .windows = blocks,
                 .chunk_places = {places}});
}

std::vector<window_box> boxes_of(const planned_window& window) {
  window_block head;
  std::memcpy(&head, window.blocks[0].data(), sizeof head);
  std::vector<window_box> boxes(head.boxes);
  std::memcpy(boxes.data(), window.blocks[0].data() + sizeof head,
              boxes.size() * sizeof(window_box));
  return boxes;
}

}  // namespace

TEST_CASE("window planner: each chunk is sent once, where all fit", "[decoding]") {
  const auto plan = plan_of(25);
  window_planner planner{plan};
  planned_window window;
  for (int pass = 0; pass < 2; ++pass) {
    planner.begin_pass(10);
    std::uint64_t sent = 0;
    for (std::uint64_t sample = 10; sample < 95; ++sample) {
      planner.plan({.sample = sample_index{sample}}, window);
      sent += window.chunks.size();
      CHECK_FALSE(window.begins_group);
      CHECK(window.replaces_end == 0);
    }
    CHECK(sent == 23);  // the first 2 of 25 are not needed
  }
}

TEST_CASE("window planner: a chunk that the group needs is replaced by the next group alone",
          "[decoding]") {
  const std::uint32_t places = GENERATE(3U, 4U, 7U);
  const bool in_order = GENERATE(true, false);
  const auto plan = plan_of(places);
  window_planner planner{plan};
  planner.begin_pass(0);
  std::map<std::uint32_t, std::uint64_t> use_end;  // for each slot
  std::uint64_t group_begin = 0;
  std::uint64_t groups = 0;
  planned_window window;
  for (std::uint64_t index = 0; index < 95; ++index) {
    const std::uint64_t sample = in_order ? index : index * 37 % 95;
    planner.plan({.sample = sample_index{sample}}, window);
    if (window.begins_group) {
      group_begin = index;
      ++groups;
    }
    for (const planned_window::chunk& each : window.chunks) {
      REQUIRE(each.place < places);
      CHECK(use_end[each.place] <= group_begin);
      CHECK(use_end[each.place] <= window.replaces_end);
    }
    for (const window_box& box : boxes_of(window)) use_end[box.place] = index + 1;
  }
  CHECK(groups > 3);
}
