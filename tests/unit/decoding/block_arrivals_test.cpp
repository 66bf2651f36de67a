/// Blocks as they arrive in device memory, to be decoded together.

#include "decoding/block_arrivals.hpp"

#include <feedline/sampler/sequential.hpp>

#include "decoding/carried_blocks.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

constexpr std::size_t fields = 2;
constexpr std::size_t table_at = 256;

block_plan make_plan_of(std::uint32_t group, std::size_t group_bytes) {
  const dataset_ptr data = make_encoded(make_identity_rows(100, 10), 5);
  std::string why;
  return {.blocks = data->encoded(),
          .order = *block_order::of({sequential{}, {.positions = 100}}, 100, 5, why),
          .fields = fields,
          .loads_bytes = 0,
          .max_loads = 0,
          .max_group = group,
          .usual_bytes = 0,
          .group = group,
          .group_bytes = group_bytes};
}

/// A slot with some blocks, of which each byte says which block it is.
struct filled_slot {
  /// @param gap Bytes after each block that belong to no block.
  filled_slot(const device_ptr& device, std::uint32_t blocks, std::size_t gap = 0)
      : staged{device, memory_kind::staging,
               table_at + block_plan::table_bytes(blocks * fields) + blocks * (80 + gap)},
        slot{device},
        blocks{blocks} {
    slot.data = staged.data();
    auto* load = reinterpret_cast<block_load*>(slot.data + table_at);
    std::size_t at = table_at + block_plan::table_bytes(blocks * fields);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (std::uint32_t field = 0; field < fields; ++field) {
        const std::uint32_t bytes = field == 0 ? 40 : 20;
        *load++ = {.field = field,
                   .place = block,
                   .bytes = bytes,
                   .at = static_cast<std::uint32_t>(at / 16)};
        std::memset(slot.data + at, static_cast<int>(10 * (block + 1) + field), bytes);
        at += block_plan::rounded(bytes);
      }
      at += gap;
    }
  }
  device_memory staged;
  staging_slot slot;
  std::uint32_t blocks;
};

/// The byte at a block read's position.
std::uint32_t byte_of(const block_decoder::work& work, std::uint32_t number) {
  block_load load;
  std::memcpy(&load, work.copy_destination + work.loads_at + number * sizeof load, sizeof load);
  CHECK(std::memcmp(&load, work.staged + work.loads_at + number * sizeof load, sizeof load) == 0);
  const std::byte* const at = work.copy_destination + std::size_t{load.at} * 16;
  CHECK(at[0] == at[load.bytes - 1]);
  return std::to_integer<std::uint32_t>(at[0]);
}

}  // namespace

TEST_CASE("block_arrivals: as many blocks as make a group come together, from several slots",
          "[decoding][host]") {
  const scripted on;
  const block_plan plan = make_plan_of(5, 4096);
  const std::size_t before = on.device->allocated_bytes(memory_kind::device);
  block_arrivals arrivals{on.device, plan, table_at};
  CHECK(on.device->allocated_bytes(memory_kind::device) - before == block_arrivals::bytes(plan));
  copy_meter copies{on.device};
  filled_slot first{on.device, 3};
  filled_slot second{on.device, 4};
  CHECK(arrivals.add(first.slot, 0, first.blocks, copies, on.stream) == 3);
  CHECK_FALSE(arrivals.is_full());
  CHECK(arrivals.add(second.slot, 0, second.blocks, copies, on.stream) == 2);
  CHECK(arrivals.is_full());
  CHECK(arrivals.add(second.slot, 2, second.blocks, copies, on.stream) == 0);
  on.device->drain(on.stream);
  const block_decoder::work group = arrivals.content();
  REQUIRE(group.loads == 5 * fields);
  const std::vector<std::uint32_t> expected{10, 11, 20, 21, 30, 31, 10, 11, 20, 21};
  for (std::uint32_t i = 0; i < group.loads; ++i) CHECK(byte_of(group, i) == expected[i]);

  arrivals.clear();
  CHECK_FALSE(arrivals.is_full());
  CHECK(arrivals.add(second.slot, 2, second.blocks, copies, on.stream) == 2);
  on.device->drain(on.stream);
  const block_decoder::work next = arrivals.content();
  REQUIRE(next.loads == 2 * fields);
  CHECK(byte_of(next, 0) == 30);
  CHECK(byte_of(next, 3) == 41);
}

TEST_CASE("block_arrivals: no more blocks come than there are bytes for", "[decoding][host]") {
  const scripted on;
  const std::uint32_t fitting = GENERATE(1U, 2U, 3U);
  block_arrivals arrivals{on.device, make_plan_of(100, fitting * (48 + 32) + 79), table_at};
  copy_meter copies{on.device};
  filled_slot from{on.device, 4};
  CHECK(arrivals.add(from.slot, 0, from.blocks, copies, on.stream) == fitting);
  CHECK(arrivals.add(from.slot, fitting, from.blocks, copies, on.stream) == 0);
  arrivals.clear();
  CHECK(arrivals.add(from.slot, fitting, from.blocks, copies, on.stream) ==
        std::min(fitting, 4 - fitting));
  on.device->drain(on.stream);
  CHECK(byte_of(arrivals.content(), 0) == 10 * (fitting + 1));
}

TEST_CASE("block_arrivals: large gaps between blocks are not copied, small ones are",
          "[decoding][host]") {
  const scripted on;
  constexpr std::size_t large = std::size_t{128} << 10;
  const auto copied = [&](std::size_t gap, std::size_t room) {
    block_arrivals arrivals{on.device, make_plan_of(100, room), table_at};
    copy_meter copies{on.device};
    filled_slot from{on.device, 4, gap};
    CHECK(arrivals.add(from.slot, 0, from.blocks, copies, on.stream) == 4);
    on.device->drain(on.stream);
    const block_decoder::work group = arrivals.content();
    const std::vector<std::uint32_t> expected{10, 11, 20, 21, 30, 31, 40, 41};
    REQUIRE(group.loads == expected.size());
    for (std::uint32_t i = 0; i < group.loads; ++i) CHECK(byte_of(group, i) == expected[i]);
    return copies.bytes() - 8 * sizeof(block_load);
  };
  CHECK(copied(0, 4096) == 4 * 80);
  CHECK(copied(160, 4096) == 4 * 80 + 3 * 160);
  CHECK(copied(large, 4 * (80 + large)) == 4 * 80 + 3 * large);
  CHECK(copied(large + 16, 4096) == 4 * 80);
  // The group has room for the blocks alone.
  CHECK(copied(large + 16, 4 * 80) == 4 * 80);
}

TEST_CASE("block_arrivals: a window that begins a group ends the group that is gathered",
          "[decoding][host]") {
  const scripted on;
  block_arrivals arrivals{on.device, make_plan_of(100, 4096), table_at};
  copy_meter copies{on.device};
  filled_slot from{on.device, 6};
  const auto carried = std::make_shared<carried_blocks>();
  carried->loads = from.blocks;
  std::size_t end = table_at + block_plan::table_bytes(from.blocks * fields);
  for (std::uint32_t block = 0; block < from.blocks; ++block)
    carried->extras.push_back({.chunks_end = 0,
                               .end = end += 80,
                               .begins_group = block == 0 || block == 3 || block == 4,
                               .replaces_end = block == 3 ? 3U : 0U});
  from.slot.work.blocks = carried;
  CHECK(arrivals.add(from.slot, 0, from.blocks, copies, on.stream) == 3);
  CHECK(arrivals.replaces_end() == 0);
  CHECK(arrivals.add(from.slot, 3, from.blocks, copies, on.stream) == 0);
  arrivals.clear();
  CHECK(arrivals.add(from.slot, 3, from.blocks, copies, on.stream) == 1);
  CHECK(arrivals.replaces_end() == 3);
  arrivals.clear();
  CHECK(arrivals.replaces_end() == 0);
  CHECK(arrivals.add(from.slot, 4, from.blocks, copies, on.stream) == 2);
  on.device->drain(on.stream);
  const block_decoder::work group = arrivals.content();
  REQUIRE(group.loads == 2 * fields);
  CHECK(byte_of(group, 0) == 50);
  CHECK(byte_of(group, 3) == 61);
}
