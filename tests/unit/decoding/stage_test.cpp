/// The waits between groups of blocks, each proved by releasing the work that would do harm without
/// it. The test plays slot scheduler, readers and transfer, so that it settles which group comes
/// when.

#include "decoding/stage.hpp"

#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "decoding/block_reader.hpp"
#include "decoding/carried_blocks.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

constexpr std::uint64_t samples = 240;
constexpr std::uint64_t rows = 5;
constexpr std::uint64_t group = 2;  ///< blocks
constexpr std::uint32_t lanes = 3;
constexpr std::size_t fields = 3;
constexpr std::size_t slot_bytes = 8192;

block_plan make_plan_of(const dataset_ptr& data) {
  std::string why;
  return {.blocks = data->encoded(),
          .order = *block_order::of(
              {shuffle{.seed = 3, .within = chunks(4)}.bind(*data, 1), {.positions = samples}},
              samples, rows, why),
          .fields = fields,
          .loads_bytes = 4096,
          .max_loads = group * fields,
          .max_group = group,
          .usual_bytes = 100,
          .lanes = lanes,
          .ahead = 0,
          .group = group,
          .places = 24,
          .group_bytes = 1024};
}

/// A stage between the test's streams: that of copies continues first, that of assemblies last.
struct staged {
  void begin_run(std::uint64_t epoch) {
    pass = std::make_shared<epoch_pass>(epoch);
    next = 0;
    begins = true;
  }
  /// Brings a group of blocks, so that its decoding is issued: on the next lane.
  void bring_group() {
    staging_slot& slot = fill(group);
    stage.take(slot, copies, copying.get(), event_handle::none);
  }
  /// A slot that brings the next blocks.
  staging_slot& fill(std::uint32_t blocks) {
    memories.emplace_back(device, memory_kind::staging, slot_bytes);
    staging_slot& slot = slots.emplace_back(device);
    slot.data = memories.back().data();
    auto carried = std::make_shared<carried_blocks>(reader);
    carried->first_load = next;
    carried->loads = blocks;
    carried->begins_pass = std::exchange(begins, false);
    slot.work = {.pass = pass, .blocks = carried};
    auto* load = reinterpret_cast<block_load*>(slot.data + tables.chunks_at());
    std::size_t at = tables.chunks_at() + block_plan::table_bytes(blocks * fields);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      sample_index number{};
      plan->order.blocks(pass->epoch, next + block, {&number, 1});
      for (std::uint32_t field = 0; field < fields; ++field, ++load) {
        const auto as = plan->stored(field, number);
        *load = {.field = field,
                 .place = static_cast<std::uint32_t>((next + block) % plan->places),
                 .bytes = static_cast<std::uint32_t>(as.bytes),
                 .at = static_cast<std::uint32_t>(at / 16),
                 .missing = 1};
        at += block_plan::rounded(as.bytes);
      }
    }
    REQUIRE(at <= slot_bytes);
    for (std::uint32_t block = 0; block < blocks; ++block) carried->read(slot, block);
    next += blocks;
    return slot;
  }
  /// Blocks until nothing is left that the device could do: the stream made first and that made
  /// last have work, and one of them comes last.
  void settle() {
    for (const stream* each : {&oldest, &youngest}) device->launch(each->get(), [] {});
    for (const stream* each : {&oldest, &youngest}) device->drain(each->get());
  }
  /// Whether the rows in the slots of some blocks are theirs.
  bool holds(std::uint64_t first, std::uint64_t blocks) {
    std::vector<sample_index> numbers(blocks);
    plan->order.blocks(pass->epoch, first, numbers);
    bool all = true;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      std::uint64_t id = 0;  // the first field of the block's first row
      std::memcpy(&id, store.field(0) + (first + block) % plan->places * rows * sizeof id,
                  sizeof id);
      all = all && id == numbers[block].value * rows;
    }
    return all;
  }

  dataset_ptr data = make_encoded(make_identity_rows(samples, 10), rows);
  std::shared_ptr<const block_plan> plan = std::make_shared<const block_plan>(make_plan_of(data));
  std::shared_ptr<scripted_device> device = std::make_shared<scripted_device>();
  stream oldest{device};
  stream copying{device};
  slot_layout of_rows{data->fields(), 10, 1};
  destination_layout tables{
      of_rows.row_bytes(), 10, request_layout{10, 10}, false, 0, false, 0, 4096};
  device_row_cache store{device, of_rows.row_bytes(), 24 * rows};
  decoding_stage stage{device, *plan, store, tables, 2};
  stream assembling{device};
  stream youngest{device};
  copy_meter copies{device};
  block_reader reader{plan, tables.chunks_at()};
  std::list<device_memory> memories;
  std::list<staging_slot> slots;
  std::shared_ptr<epoch_pass> pass;
  std::uint64_t next = 0;
  bool begins = false;
};

/// A slot with a sample of the first block, which is checked once all blocks before `needed_end`
/// are decoded.
struct checked_slot {
  checked_slot(staged& with, std::uint64_t needed_end)
      : device{*with.device},
        destination{with.device, memory_kind::device, slot_bytes},
        checked{with.device} {
    staging_slot& slot = with.fill(0);
    blocks = std::static_pointer_cast<carried_blocks>(slot.work.blocks);
    blocks->needed_end = needed_end;
    std::memset(destination.data(), 0, slot_bytes);
    with.stage.check(slot, destination.data(), 1, with.assembling.get());
    device.record(checked.get(), with.assembling.get());
  }
  [[nodiscard]] bool is_checked() const { return device.is_done(checked.get()); }

  scripted_device& device;
  device_memory destination;
  std::shared_ptr<carried_blocks> blocks;
  event checked;
};

}  // namespace

TEST_CASE(
    "decoding stage: a pass's group waits for the last groups of the pass before, on the other "
    "worker streams",
    "[decoding][host]") {
  const std::uint64_t before = GENERATE(1U, 2U);  // the first is one or two lanes earlier
  CAPTURE(before);
  staged with;
  with.device->favour_young_streams();  // the last lane
  with.device->hold_decodes();
  with.begin_run(0);
  for (std::uint64_t i = 0; i < before; ++i) with.bring_group();
  with.begin_run(1);
  with.bring_group();
  with.settle();  // all have arrived
  for (std::uint64_t i = 0; i < before; ++i) {
    with.device->allow_decodes(1);
    with.settle();
  }
  with.device->allow_all_decodes();
  with.device->drain();
  CHECK(with.holds(0, group));
}

TEST_CASE("decoding stage: blocks arrive on a worker stream once its last group is decoded",
          "[decoding][host]") {
  staged with;
  with.device->favour_young_streams();  // the first lane comes last
  with.device->hold_decodes();
  with.begin_run(0);
  for (std::uint32_t i = 0; i < lanes; ++i) with.bring_group();
  with.bring_group();  // in the first lane
  for (std::uint32_t i = 1; i < lanes; ++i) {
    with.settle();
    with.device->allow_decodes(1);
  }
  with.settle();
  with.device->allow_all_decodes();
  with.device->drain();
  CHECK(with.holds(0, (lanes + 1) * group));
}

TEST_CASE(
    "decoding stage: a slot waits for groups of all worker streams whose events are not kept any "
    "more",
    "[decoding][host]") {
  staged with;
  with.device->hold_decodes();
  with.begin_run(0);
  for (std::uint32_t i = 0; i < 3 * lanes; ++i) with.bring_group();
  const checked_slot slot{with, lanes * group};
  for (std::uint32_t lane = 1; lane < lanes; ++lane) {
    CAPTURE(lane);
    with.device->allow_decodes(2);  // one more worker stream's first group, and the first one kept
    with.settle();
    CHECK_FALSE(slot.is_checked());
  }
  with.device->allow_all_decodes();
  with.device->drain();
  CHECK(slot.is_checked());
  CHECK(*slot.blocks->first_bad == 0xFFFFFFFF);
}

TEST_CASE("decoding stage: a slot waits for no group after those with its blocks",
          "[decoding][host]") {
  staged with;
  with.device->hold_decodes();
  with.begin_run(0);
  for (std::uint32_t i = 0; i < lanes; ++i) with.bring_group();
  const checked_slot slot{with, 2 * group};
  with.device->allow_decodes(1);
  with.settle();
  CHECK_FALSE(slot.is_checked());
  with.device->allow_decodes(1);
  with.settle();
  CHECK(slot.is_checked());
  with.device->allow_all_decodes();
  with.device->drain();
}

TEST_CASE(
    "decoding stage: it is idle once all blocks have arrived, and all worker streams have decoded",
    "[decoding][host]") {
  const bool young_first = GENERATE(false, true);
  const std::uint32_t groups = GENERATE(1U, 2U, lanes);
  CAPTURE(young_first, groups);
  staged with;
  if (young_first) with.device->favour_young_streams();
  CHECK(with.stage.is_idle());
  with.device->hold_decodes();
  with.begin_run(0);
  for (std::uint32_t i = 0; i < groups; ++i) with.bring_group();
  for (std::uint32_t i = 0; i < groups; ++i) {
    with.settle();
    CHECK_FALSE(with.stage.is_idle());
    with.device->allow_decodes(1);
  }
  with.device->allow_all_decodes();
  with.device->drain();
  CHECK(with.stage.is_idle());
  with.device->hold_copies();
  with.stage.take(with.fill(1), with.copies, with.copying.get(), event_handle::none);
  CHECK_FALSE(with.stage.is_idle());
  with.device->allow_all_copies();
  with.device->drain();
  CHECK(with.stage.is_idle());
}

TEST_CASE("decoding stage: memory may be freed once all are waited for, and none is refused",
          "[decoding][host]") {
  staged with;
  with.begin_run(0);
  for (std::uint32_t i = 0; i < lanes; ++i) with.bring_group();
  with.device->drain();
  for (std::uint64_t refused = 1; refused <= 1 + lanes; ++refused) {
    CAPTURE(refused);
    with.device->fail_call(device_call::sync, refused);
    CHECK_FALSE(with.stage.sync_before_freeing());
  }
  CHECK(with.stage.sync_before_freeing());
}
