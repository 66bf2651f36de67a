/// The steps for a block read's bytes, which need no GPU.

#include "cuda/decode/program.hpp"

#include <feedline/backend/block_decoder.hpp>

#include "cuda/decode/plan.hpp"
#include "support/checks/catch.hpp"

#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

using enum block_filter;
using does = decode_operation;

decode_program program_of(std::vector<block_step> steps, std::size_t block_bytes = 1000,
                          std::size_t max_stored_bytes = 1200) {
  REQUIRE(refusal_of_program(steps).empty());
  return make_program(
      {.block_bytes = block_bytes, .steps = std::move(steps), .max_stored_bytes = max_stored_bytes},
      10);
}

block_load load_of(std::uint32_t bytes, std::uint32_t skipped = 0) {
  return {.bytes = bytes, .skipped = skipped};
}

}  // namespace

TEST_CASE("decode program: the last step of a writer is undone first", "[cuda][decode][host]") {
  const auto program = program_of({{byte_shuffle, 4}, {deflate}, {fletcher32}});
  const block_load load = load_of(500);
  REQUIRE(program.steps == 4);
  REQUIRE(can_decode(program, load));

  const decode_task checks = task_at(program, load, 0);
  CHECK(checks.does == does::check_fletcher32);
  CHECK(checks.from == bytes_place::copy_destination);
  CHECK(checks.to_bytes == 496);
  const decode_task inflates = task_at(program, load, 1);
  CHECK(inflates.does == does::inflate);
  CHECK(inflates.from == bytes_place::copy_destination);
  CHECK(inflates.to == bytes_place::scratch_a);
  CHECK(inflates.bytes == 496);
  CHECK(inflates.to_bytes == 1000);
  const decode_task joins = task_at(program, load, 2);
  CHECK(joins.does == does::join_bytes);
  CHECK(joins.element_bytes == 4);
  CHECK(joins.to == bytes_place::store);
  CHECK(task_at(program, load, 3).does == does::none);
}

TEST_CASE("decode program: steps that a block read leaves out are not done",
          "[cuda][decode][host]") {
  const auto program = program_of({{byte_shuffle, 4}, {deflate}, {fletcher32}});
  SECTION("the shuffle: the stream decodes to the block's slot") {
    const decode_task inflates = task_at(program, load_of(500, 0b001), 1);
    CHECK(inflates.does == does::inflate);
    CHECK(inflates.to == bytes_place::store);
  }
  SECTION("the compression: the bytes must be as many as the block's and the checksum's") {
    CHECK(can_decode(program, load_of(1004, 0b010)));
    CHECK(!can_decode(program, load_of(1003, 0b010)));
    CHECK(!can_decode(program, load_of(1005, 0b010)));
    CHECK(task_at(program, load_of(1004, 0b010), 2).from == bytes_place::copy_destination);
  }
  SECTION("all: the bytes are copied") {
    for (std::uint32_t step = 0; step < 3; ++step)
      CHECK(task_at(program, load_of(1000, 0b111), step).does == does::none);
    const decode_task copies = task_at(program, load_of(1000, 0b111), 3);
    CHECK(copies.does == does::copy);
    CHECK(copies.from == bytes_place::copy_destination);
    CHECK(copies.to == bytes_place::store);
    CHECK(!can_decode(program, load_of(999, 0b111)));
  }
}

TEST_CASE("decode program: a checksum within compressed bytes is decoded beside the block",
          "[cuda][decode][host]") {
  const auto program = program_of({{fletcher32}, {deflate}});
  const decode_task decodes = task_at(program, load_of(500), 0);
  CHECK(decodes.does == does::inflate);
  CHECK(decodes.to_bytes == 1004);
  CHECK(decodes.to == bytes_place::scratch_a);
  CHECK(task_at(program, load_of(500), 2).does == does::copy);
  CHECK(lay_out_decoder({&program, 1}, 1, 0).scratch_bytes[0] >= 1200);
}

TEST_CASE("decode program: loads that cannot be right are not worked at", "[cuda][decode][host]") {
  const auto program = program_of({{deflate}});
  CHECK(can_decode(program, load_of(7)));
  CHECK(!can_decode(program, load_of(6)));  // a zlib stream's frame alone
  CHECK(can_decode(program, load_of(1200)));
  CHECK(!can_decode(program, load_of(1201)));  // more than the field's largest block
  block_load load = load_of(500);
  load.missing = 1;
  CHECK(!can_decode(program, load));
  load = load_of(500);
  load.place = 10;
  CHECK(!can_decode(program, load));
  CHECK(!can_decode(program_of({{fletcher32}}), load_of(3)));
  CHECK(!can_decode(program_of({{bit_shuffle, 8}}, 1001), load_of(1001)));
  CHECK(can_decode(program_of({{byte_shuffle, 8}}, 1001), load_of(1001)));
}

TEST_CASE("decode program: filters that are not undone are refused by name",
          "[cuda][decode][host]") {
  const auto refusal = [](std::vector<block_step> steps) { return refusal_of_program(steps); };
  CHECK(refusal({}).empty());
  CHECK(refusal({{byte_shuffle, 4}, {lz4}}).empty());
  CHECK(refusal({{bit_shuffle_lz4, 4}}).empty());
  CHECK(refusal({{bit_shuffle_zstd, 0}}) == "bit shuffle with zstd of elements of 0 bytes");
  CHECK(refusal({{other}, {bit_shuffle_lz4, 0}}) == "a filter of its own is undone by CPUs alone");
  CHECK(refusal({{zstd}}).empty());
  CHECK(refusal({{deflate}, {deflate}}) == "deflate of what is compressed already");
  CHECK(refusal({{deflate}, {byte_shuffle, 4}, {zstd}}) == "zstd of what is compressed already");
  CHECK(refusal({{lz4}, {zstd}}) == "zstd of what is compressed already");
  CHECK(refusal({{deflate}, {lz4}}) == "lz4 of what is compressed already");
  CHECK(refusal({{blosc_lz4}, {gzip}}) == "gzip of what is compressed already");
  CHECK(refusal({{gzip}, {blosc_zstd}}) == "blosc with zstd of what is compressed already");
  CHECK(refusal({{gzip}, {blosc_zlib}}) == "blosc with zlib of what is compressed already");
  CHECK(refusal({{bit_shuffle_lz4, 2}, {deflate}}) == "deflate of what is compressed already");
  CHECK(refusal({{lz4}, {bit_shuffle_zstd, 2}}) ==
        "bit shuffle with zstd of what is compressed already");
  CHECK(refusal({{byte_shuffle, 0}}) == "byte shuffle of elements of 0 bytes");
  CHECK(refusal(std::vector<block_step>(33, {fletcher32})) ==
        "33 steps are more than the GPU undoes");
  CHECK(refusal(std::vector<block_step>(32, {fletcher32})).empty());
}

TEST_CASE("decode program: Zstandard and LZ4 are decoded as zlib's streams are",
          "[cuda][decode][host]") {
  const auto [filter, operation] = GENERATE(
      table<block_filter, decode_operation>({{zstd, does::decode_zstd}, {lz4, does::decode_lz4}}));
  const auto program = program_of({{byte_shuffle, 4}, {filter}, {fletcher32}});
  CHECK(can_decode(program, load_of(5)));   // a byte, and the checksum
  CHECK(!can_decode(program, load_of(4)));  // nothing before it
  const decode_task decodes = task_at(program, load_of(500), 1);
  CHECK(decodes.does == operation);
  CHECK(decodes.bytes == 496);
  CHECK(decodes.to == bytes_place::scratch_a);
  CHECK(decodes.to_bytes == 1000);
  CHECK(task_at(program, load_of(500, 0b001), 1).to == bytes_place::store);
  const auto within = program_of({{fletcher32}, {filter}});
  CHECK(task_at(within, load_of(500), 0).to_bytes == 1004);
  CHECK(task_at(within, load_of(500), 0).to == bytes_place::scratch_a);
}

TEST_CASE("decode program: bytes that a shuffle compressed are decoded, then reordered",
          "[cuda][decode][host]") {
  const auto [filter, operation] =
      GENERATE(table<block_filter, decode_operation>({{bit_shuffle_zstd, does::decode_zstd_bits},
                                                      {bit_shuffle_lz4, does::decode_lz4_bits},
                                                      {blosc_zstd, does::decode_blosc_zstd},
                                                      {blosc_lz4, does::decode_blosc_lz4},
                                                      {blosc_zlib, does::decode_blosc_zlib}}));
  const bool is_blosc = filter == blosc_zstd || filter == blosc_lz4 || filter == blosc_zlib;
  const auto program = program_of({{filter, 8}, {fletcher32}});
  REQUIRE(program.steps == 4);
  CHECK(can_decode(program, load_of(5)));
  CHECK(!can_decode(program, load_of(4)));
  const decode_task decodes = task_at(program, load_of(500), 1);
  CHECK(decodes.does == operation);
  if (!is_blosc) CHECK(decodes.element_bytes == 8);
  CHECK(decodes.bytes == 496);
  CHECK(decodes.to == bytes_place::scratch_a);
  CHECK(decodes.to_bytes == 1000);
  const decode_task joins = task_at(program, load_of(500), 2);
  CHECK(joins.does == (is_blosc ? does::join_said_blocks : does::join_said_bits));
  if (!is_blosc) CHECK(joins.element_bytes == 8);
  CHECK(joins.from == bytes_place::scratch_a);
  CHECK(joins.to == bytes_place::store);
  // Both are left out together.
  CHECK(task_at(program, load_of(1004, 0b01), 1).does == does::none);
  CHECK(task_at(program, load_of(1004, 0b01), 2).does == does::none);
  CHECK(task_at(program, load_of(1004, 0b01), 3).does == does::copy);
  // Bytes that are not whole elements.
  CHECK(can_decode(program_of({{filter, 8}}, 1001), load_of(500)) == is_blosc);
  // The largest number of steps.
  std::vector<block_step> most(32, {fletcher32});
  most[5] = {filter, 2};
  CHECK(program_of(most, 1000, 2000).steps == max_decode_steps);
}

TEST_CASE("decode plan: a round counts the loads that a kernel is launched for",
          "[cuda][decode][host]") {
  const std::vector<decode_program> programs{program_of({{byte_shuffle, 4}, {deflate}}),
                                             program_of({{deflate}}, 64)};
  std::vector<block_load> loads{load_of(500), load_of(400, 0b01), load_of(1000, 0b11),
                                load_of(50),  load_of(60),        load_of(70)};
  loads[3].field = loads[4].field = 1;
  loads[4].missing = 1;
  loads[5].field = 2;  // there is none
  const decode_plan plan = plan_decoding(programs, loads);
  REQUIRE(plan.rounds == 3);
  CHECK(plan.round[0].inflated == 3);
  CHECK(plan.round[0].zstd == 0);
  CHECK(plan.round[0].moved == 0);
  CHECK(plan.round[1].moved == 1);  // joined
  CHECK(plan.round[1].moved_bytes == 1000);
  CHECK(plan.round[2].moved == 1);  // copied
  CHECK(plan.round[2].moved_bytes == 1000);

  const std::vector<decode_program> frames{program_of({{byte_shuffle, 4}, {zstd}})};
  const decode_plan of_frames = plan_decoding(frames, std::vector{load_of(9), load_of(9, 0b10)});
  CHECK(of_frames.round[0].zstd == 1);
  CHECK(of_frames.round[0].lz4 == 0);
  CHECK(of_frames.round[0].inflated == 0);
  const std::vector<decode_program> of_lz4{program_of({{lz4}})};
  CHECK(plan_decoding(of_lz4, std::vector{load_of(9), load_of(9)}).round[0].lz4 == 2);
  CHECK(plan_decoding(of_lz4, std::vector{load_of(9)}).round[0].zstd == 0);
  const std::vector<decode_program> of_bits{program_of({{bit_shuffle_lz4, 2}}),
                                            program_of({{bit_shuffle_zstd, 2}})};
  std::vector<block_load> bits{load_of(9), load_of(9), load_of(9)};
  bits[2].field = 1;
  const decode_plan of_both = plan_decoding(of_bits, bits);
  CHECK(of_both.round[0].lz4_bits == 2);
  CHECK(of_both.round[0].zstd_bits == 1);
  CHECK(of_both.round[0].lz4 == 0);
  CHECK(of_both.round[1].moved == 3);
}

TEST_CASE("decode plan: memory suffices for the steps, and no more", "[cuda][decode][host]") {
  const auto layout = [](std::vector<block_step> steps) {
    const auto program = program_of(std::move(steps), 10'000, 5000);
    return lay_out_decoder({&program, 1}, 8, 0);
  };
  const decoder_layout plain = layout({});
  CHECK(plain.scratch_bytes[0] == 0);
  CHECK(plain.scratch_bytes[1] == 0);
  CHECK(plain.bytes % 256 == 0);
  CHECK(layout({{zstd}}).bytes == plain.bytes);  // all its memory is the threads'
  CHECK(layout({{lz4}}).bytes == plain.bytes);
  CHECK(layout({{blosc_zstd}}).bytes == plain.bytes + 256 + 8 * 10'240);  // two words for each
  CHECK(layout({{blosc_zlib}}).bytes == layout({{blosc_zstd}}).bytes);
  for (const block_filter filter : {bit_shuffle_lz4, bit_shuffle_zstd}) {
    const decoder_layout bits =
        layout({{filter, 4}});  // a word for each load, and what is shuffled
    CHECK(bits.scratch_bytes[0] == 10'240);
    CHECK(bits.scratch_bytes[1] == 0);
    CHECK(bits.bytes == plain.bytes + 256 + 8 * 10'240);
    CHECK(bits.scratch[0] >= bits.said + 8 * 4);
  }
  const decoder_layout one = layout({{deflate}});
  CHECK(one.scratch_bytes[0] == 0);
  CHECK(one.scratch_bytes[1] == 0);
  const decoder_layout two = layout({{byte_shuffle, 4}, {deflate}});
  CHECK(two.scratch_bytes[0] == 10'240);
  CHECK(two.scratch_bytes[1] == 0);
  CHECK(two.bytes > 8 * 10'240);
  const decoder_layout three = layout({{byte_shuffle, 2}, {byte_shuffle, 4}, {deflate}});
  CHECK(three.scratch_bytes[0] == 10'240);
  CHECK(three.scratch_bytes[1] == 10'240);
}

TEST_CASE("decode plan: no step of a load passes the memory that is there",
          "[cuda][decode][host]") {
  const std::vector<std::vector<block_step>> pipelines{
      {{byte_shuffle, 4}, {deflate}, {fletcher32}},
      {{fletcher32}, {byte_shuffle, 4}, {deflate}},
      {{fletcher32}, {deflate}},
      {{byte_shuffle, 4}, {deflate}, {byte_shuffle, 2}},
      {{fletcher32}, {deflate}, {fletcher32}},
      {{fletcher32}, {byte_shuffle, 2}, {zstd}, {fletcher32}},
      {{byte_shuffle, 2}, {lz4}, {fletcher32}},
      {{bit_shuffle_lz4, 4}, {fletcher32}},
      {{blosc_lz4, 4}, {fletcher32}},
      {{byte_shuffle, 4}, {gzip}},
      {{fletcher32}, {byte_shuffle, 4}, {bit_shuffle_zstd, 4}},
      {{bit_shuffle, 4}, {byte_shuffle, 4}},
      {{byte_shuffle, 2}, {fletcher32}, {deflate}, {byte_shuffle, 2}}};
  for (const auto& steps : pipelines) {
    const auto program = program_of(steps, 1000, 1300);
    const decoder_layout layout = lay_out_decoder({&program, 1}, 1, 0);
    for (std::uint32_t skipped = 0; skipped < 1U << steps.size(); ++skipped) {
      for (std::uint32_t bytes = 1; bytes <= 1300; ++bytes) {
        const block_load load = load_of(bytes, skipped);
        if (!can_decode(program, load)) continue;
        bytes_place at = bytes_place::copy_destination;
        for (std::uint32_t step = 0; step < program.steps; ++step) {
          const decode_task task = task_at(program, load, step);
          CAPTURE(skipped, bytes, step);
          REQUIRE(task.from == at);
          at = task.to;
          if (moves(task.does)) REQUIRE(task.to != task.from);
          if (at == bytes_place::scratch_a) REQUIRE(task.to_bytes <= layout.scratch_bytes[0]);
          if (at == bytes_place::scratch_b) REQUIRE(task.to_bytes <= layout.scratch_bytes[1]);
          if (at == bytes_place::store) REQUIRE(task.to_bytes == 1000);
        }
        REQUIRE(at == bytes_place::store);
      }
    }
  }
}
