/// How many blocks come ahead of need, and how many are decoded at once: as device memory allows.

#include "decoding/choice.hpp"

#include <feedline/arrays/windows.hpp>
#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "decoding/stage.hpp"
#include "loader/plan/placement_choice.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "loader/plan/share.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/coded_chunks.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batches = 4;

/// Blocks of a dataset, as a loader of this many batches a slot has them.
struct chosen {
  /// @param memory_bytes The device's; 0: unknown.
  chosen(const dataset_ptr& of, loader_options options, std::size_t memory_bytes = 0)
      : data{of}, device{std::make_shared<scripted_device>()} {
    options.batch_size = 100;
    options.decode_on = decode_on::device;
    device_capabilities can = device->capabilities();
    can.memory_bytes = memory_bytes;
    const std::vector<std::size_t> row_bytes = row_bytes_of(*data);
    const decoding_choice choice =
        choose_decoding(*data, {sequential{}, share_of(sequential{}, *data, options)}, can, options,
                        placement::stream, row_bytes, usual_piece_bytes(placement::stream));
    REQUIRE(choice.blocks);
    const slot_memory sizes{data->fields(),      options, placement::stream, 0, false,
                            choice.loads_bytes()};
    slot_bytes = 2 * sizes.device_bytes(batches) + sizes.destination_bytes(batches);
    const decoding_limits limits =
        limits_of(options, 2 * sizes.device_bytes(batches), sizes.destination_bytes(batches));
    blocks = std::make_unique<block_plan>(
        sized(*choice.blocks, row_bytes, can, limits, batches * options.batch_size));
    bytes = bytes_of(*blocks, row_bytes, can, 0);
  }
  dataset_ptr data;
  std::shared_ptr<scripted_device> device;
  std::size_t slot_bytes = 0;  ///< bytes of two device slots, with their copy destinations
  std::unique_ptr<block_plan> blocks;
  decoding_bytes bytes;
};

dataset_ptr many_blocks() {
  static const dataset_ptr made = make_encoded(make_identity_rows(100'000, 10), 10);
  return made;
}

/// Rows that differ in size from batch to batch, in blocks that a user's dataset gives.
class sized_rows final : public dataset {
 public:
  sized_rows(std::uint64_t rows, block_filter filter, image_size largest)
      : largest_{largest}, blocks_{std::make_shared<blocks>(rows, filter)} {}

  std::uint64_t size() const override { return 100; }
  std::vector<field> fields() const override {
    return {{.name = "image",
             .type = element_type::u8,
             .shape = {largest_.height, largest_.width, 3},
             .by_batch = size_by_batch{}}};
  }
  bool varies_by_epoch() const override { return true; }
  std::shared_ptr<const encoded_blocks> encoded() const override { return blocks_; }

 private:
  struct blocks final : encoded_blocks {
    blocks(std::uint64_t rows, block_filter filter)
        : of{rows}, step{block_step{.filter = filter}} {}
    std::uint64_t rows() const noexcept override { return of; }
    std::span<const block_step> steps(std::size_t) const noexcept override { return step; }
    stored_block stored(std::size_t, std::uint64_t) const noexcept override { return {.bytes = 9}; }
    std::size_t max_stored_bytes(std::size_t) const noexcept override { return 9; }
    stored_block read(std::size_t, std::uint64_t, std::span<std::byte>,
                      const sample_context&) const override {
      return {.bytes = 9};
    }
    void decode(std::size_t, std::span<const std::byte>, const stored_block&,
                std::span<std::byte>) const override {}

    std::uint64_t of;
    std::array<block_step, 1> step;
  };

  void do_read(const read_request&) const override {}

  image_size largest_;
  std::shared_ptr<const encoded_blocks> blocks_;
};

}  // namespace

TEST_CASE("decoding_choice: more groups of windows are in flight where the device has memory",
          "[decoding][host]") {
  const auto array = make_coded_array({.name = "x",
                                       .type = element_type::u16,
                                       .shape = {4000, 16, 16},
                                       .dimensions = {"t", "y", "x"},
                                       .chunk = {4, 16, 16}},
                                      std::make_shared<coded_chunks::record>());
  const dataset_ptr windows = make_windows({{"t", 2}}, {{"input", {array}}});
  const auto all_bytes = [](const chosen& of) { return of.bytes.store + of.bytes.decoder; };
  const chosen usual{windows, {}};
  CHECK(usual.blocks->lanes == 3);
  const chosen most{windows, {}, std::size_t{1} << 50};
  CHECK(most.blocks->lanes == 8);
  CHECK(most.blocks->group == usual.blocks->group);
  CHECK(3 * most.blocks->ahead == 8 * usual.blocks->ahead);
  CHECK(most.blocks->at_once() == std::uint64_t{8} * most.blocks->group_chunks);
  CHECK(chosen{windows, {}, 8 * all_bytes(most)}.blocks->lanes == 8);
  const chosen fewer{windows, {}, 8 * all_bytes(most) - 8};
  CHECK(fewer.blocks->lanes == 7);
  CHECK(chosen{windows, {}, 8 * all_bytes(usual)}.blocks->lanes == 3);
  // Large windows come few at once; groups of more of them need more chunks.
  const auto large = make_coded_array({.name = "x",
                                       .type = element_type::u16,
                                       .shape = {4000, 1024, 1024},
                                       .dimensions = {"t", "y", "x"},
                                       .chunk = {4, 1024, 1024}},
                                      std::make_shared<coded_chunks::record>());
  const dataset_ptr large_windows = make_windows({{"t", 2}}, {{"input", {large}}});
  const chosen few{large_windows, {}, 12 * all_bytes(chosen{large_windows, {}})};
  CHECK(few.blocks->group == 128);
  const chosen many{large_windows, {}, std::size_t{1} << 50};
  CHECK(many.blocks->lanes == 8);
  CHECK(many.blocks->group == 3999 / 8);
  // A limit of the user's comes first.
  const chosen limited{windows,
                       {.memory = {.device = usual.slot_bytes + 2 * all_bytes(usual)}},
                       std::size_t{1} << 50};
  CHECK(limited.bytes.decoder <= usual.slot_bytes + 2 * all_bytes(usual));
  CHECK(limited.blocks->lanes < 6);
  // Blocks that are not windows are decoded many at once anyway.
  CHECK(chosen{many_blocks(), {}, std::size_t{1} << 50}.blocks->lanes == 3);
}

TEST_CASE("decoding_choice: rows of different sizes are images, one a block", "[decoding][host]") {
  const scripted_device device;
  const auto choose = [&](std::uint64_t rows, block_filter filter, image_size largest) {
    const sized_rows data{rows, filter, largest};
    const loader_options options{.decode_on = decode_on::device};
    return choose_decoding(data, {sequential{}, share_of(sequential{}, data, options)},
                           device.capabilities(), options, placement::stream, row_bytes_of(data),
                           usual_piece_bytes(placement::stream));
  };
  using enum block_filter;
  CHECK(choose(1, image, {40, 30}).blocks);
  CHECK(choose(1, image, {40, 30}).blocks->varies == std::vector{true});
  CHECK(choose(5, image, {40, 30}).why_not ==
        "field 'image': the size differs from batch to batch, and a block has several samples");
  CHECK(choose(1, deflate, {40, 30}).why_not ==
        "field 'image': the size differs from batch to batch, and devices decode only images to "
        "different sizes");
  CHECK(choose(1, image, {65536, 1}).why_not ==
        "field 'image': the size differs from batch to batch, and a side may have more than 65535 "
        "pixels");
  CHECK_FALSE(has_decoders_for(sized_rows{5, image, {40, 30}}, device.capabilities()));
  CHECK(has_decoders_for(sized_rows{1, image, {40, 30}}, device.capabilities()));
}

TEST_CASE("decoding_choice: pieces have room for images that readers decode", "[decoding][host]") {
  const auto script = std::make_shared<encoded_script>();
  script->filter = block_filter::image;
  const auto loads_bytes = [&](std::size_t row_bytes, loader_options options) {
    return chosen{make_encoded(make_identity_rows(200, row_bytes), 1, script), std::move(options)}
        .blocks->loads_bytes;
  };
  const std::size_t usual = usual_piece_bytes(placement::stream);
  CHECK(loads_bytes(100'000, {}) == usual);
  CHECK(loads_bytes(1'000'000, {}) >= 32'000'000);
  CHECK(loads_bytes(1'000'000, {}) < 33'000'000);
  CHECK(loads_bytes(4'000'000, {}) == 64U << 20);
  CHECK(loads_bytes(1'000'000, {.memory = {.pinned = 100'000'000}}) == usual);
}

TEST_CASE("decoding_choice: three groups of blocks are ahead, and a group is as many as pay",
          "[decoding][host]") {
  const chosen small{many_blocks(), {}};
  CHECK(small.blocks->group == 2048);
  CHECK(small.blocks->ahead == 6144);
  CHECK(small.blocks->places == 2 + 6144 + 2 * 40 + 3);
  // Large blocks: so many as decode to 400 MiB.
  const chosen large{make_encoded(make_identity_rows(100'000, 10), 50'000), {}};
  CHECK(large.blocks->max_group == (400U << 20) / (50'000 * 19));
  CHECK(large.blocks->ahead == 2);  // the epoch's two blocks
  CHECK(large.blocks->group == 1);
}

TEST_CASE("decoding_choice: a group of images is no longer than a call may take",
          "[decoding][host]") {
  const auto script = std::make_shared<encoded_script>();
  script->filter = block_filter::image;
  const chosen images{make_encoded(make_identity_rows(100'000, 10), 1, script), {}};
  CHECK(images.blocks->group == 512);
  CHECK(images.blocks->ahead == 1536);
  script->format = image_format::png;
  const chosen pngs{make_encoded(make_identity_rows(100'000, 10), 1, script), {}};
  CHECK(pngs.blocks->group == 1024);
  CHECK(pngs.blocks->ahead == 3072);
}

TEST_CASE("decoding_choice: a group's room is for blocks as they are, with some to spare",
          "[decoding][host]") {
  const chosen made{many_blocks(), {}};
  const block_plan& blocks = *made.blocks;
  CHECK(blocks.usual_bytes > 200);
  CHECK(blocks.usual_bytes < blocks.max_stored_bytes());
  CHECK(blocks.group_bytes >= blocks.group * blocks.usual_bytes);
  CHECK(blocks.group_bytes <= blocks.group * blocks.max_stored_bytes());
  CHECK(blocks.group_bytes % 256 == 0);
}

TEST_CASE("decoding_choice: fewer blocks are ahead where the cache's limit leaves no more room",
          "[decoding][host]") {
  const std::size_t all = chosen{many_blocks(), {}}.bytes.store;
  for (const std::size_t limit : {all, all - 1, all / 2, all / 10}) {
    const chosen made{many_blocks(), {.memory = {.cache = limit}}};
    CAPTURE(all, limit, made.blocks->ahead);
    CHECK(made.bytes.store <= limit);
    CHECK(made.bytes.store >= limit / 8 * 7 - 40'000);  // except for one step
    CHECK(made.blocks->group == std::max(40U, made.blocks->ahead / 3));
  }
  const chosen least{many_blocks(), {.memory = {.cache = 1}}};
  CHECK(least.blocks->ahead == 1);
  CHECK(least.blocks->group == 40);  // a slot's
  CHECK_FALSE(too_many(least.bytes, {.memory = {.cache = 1}}).empty());
}

TEST_CASE("decoding_choice: decoding leaves device memory to the slots where it is limited",
          "[decoding][host]") {
  const std::size_t all = chosen{many_blocks(), {}}.bytes.decoder;
  const std::size_t slots = chosen{many_blocks(), {}}.slot_bytes;
  const chosen half{many_blocks(), {.memory = {.device = all}}};
  CHECK(half.bytes.decoder <= all / 2);
  CHECK(half.bytes.decoder > all / 3);
  const chosen little{many_blocks(), {.memory = {.device = slots + all / 8}}};
  CHECK(little.bytes.decoder <= all / 8);
  CHECK(chosen{many_blocks(), {.memory = {.device = slots}}}.blocks->ahead == 1);
  CHECK(chosen{many_blocks(), {.memory = {.device = 10 * (slots + all)}}}.blocks->ahead == 6144);
}

TEST_CASE("decoding_choice: a plan says whether the device could decode instead of readers",
          "[decoding][host]") {
  const scripted_device device;
  const auto said = [&](const dataset_ptr& of, loader_options options = {}) {
    options.placement = placement::stream;
    return resolve(*of, sequential{}, device.capabilities(), options).report.device_could_decode;
  };
  const dataset_ptr rows = make_identity_rows(100, 10);
  CHECK(said(make_encoded(rows, 10)));
  CHECK(said(make_encoded(rows, 10), {.errors = {.action = error_action::skip}}));
  CHECK_FALSE(
      said(make_encoded(rows, 10), {.decode_on = decode_on::device}));  // the device decodes
  CHECK_FALSE(said(rows));
  const auto script = std::make_shared<encoded_script>();
  script->filter = block_filter::bit_shuffle;  // scripted devices do not undo it
  CHECK_FALSE(said(make_encoded(rows, 10, script)));
  CHECK_FALSE(resolve(*make_encoded(rows, 10), sequential{}, make_host_device()->capabilities(), {})
                  .report.device_could_decode);
}

TEST_CASE("decoding_choice: automatic is the device where an epoch has blocks for three calls",
          "[decoding][host]") {
  const auto choose = [](std::size_t blocks, decode_on who,
                         image_format format = image_format::jpeg) {
    const auto script = std::make_shared<encoded_script>();
    script->filter = block_filter::image;  // 512 a call
    script->format = format;
    const dataset_ptr images = make_encoded(make_identity_rows(blocks, 10), 1, script);
    const scripted_device device;
    const loader_options options{.decode_on = who};
    return choose_decoding(*images, {sequential{}, share_of(sequential{}, *images, options)},
                           device.capabilities(), options, placement::stream, row_bytes_of(*images),
                           usual_piece_bytes(placement::stream));
  };
  CHECK(choose(1025, decode_on::automatic).blocks);
  CHECK(choose(1025, decode_on::automatic, image_format::png).blocks);
  const decoding_choice few = choose(1024, decode_on::automatic);
  CHECK_FALSE(few.blocks);
  CHECK(few.why_not ==
        "an epoch has 1024 blocks, and decoding on the device pays from 1025 on: set "
        "decode_on::device to force it");
  CHECK(choose(1024, decode_on::device).blocks);
  CHECK_FALSE(choose(1025, decode_on::cpu).blocks);
  CHECK(choose(1025, decode_on::cpu).why_not.empty());
  CHECK(to_string(decode_on::automatic) == "automatic");
}
