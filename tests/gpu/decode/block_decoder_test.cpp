/// Blocks decoded by the GPU, against feedline's filters on the CPU, byte for byte.

#include <feedline/backend/block_decoder.hpp>
#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>

#include "gpu/decode/encoded_case.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using enum block_filter;

/// Blocks that decode: each way of leaving steps out.
std::vector<arriving_block> good_blocks(const encoded_field& field, std::uint32_t number = 0) {
  std::vector<arriving_block> blocks;
  for (std::uint32_t skipped = 0; skipped < 1U << field.steps.size(); ++skipped)
    blocks.push_back(encoded(field, number, plain_block(field.block_bytes, skipped), skipped));
  return blocks;
}

/// Damage of each sort, with a good block before and after.
std::vector<arriving_block> damaged_blocks(const encoded_field& field) {
  const arriving_block good = encoded(field, 0, plain_block(field.block_bytes, 1));
  std::vector<arriving_block> blocks{good};
  const auto add = [&](auto change) {
    blocks.push_back(good);
    change(blocks.back());
  };
  const std::size_t size = good.stored.size();
  for (const std::size_t kept : {std::size_t{1}, std::size_t{5}, std::size_t{6}, std::size_t{7},
                                 size / 2, size - 5, size - 1})
    add([&](arriving_block& block) { block.stored.resize(kept); });
  for (std::size_t at = 0; at < size; at += at < 12 ? 1 : size / 23 + 1)
    add([&](arriving_block& block) { block.stored[at] ^= std::byte{0x41}; });
  add([&](arriving_block& block) { block.stored.back() ^= std::byte{1}; });
  add([](arriving_block& block) { block.missing = true; });
  // Streams that decode well, but not to a block's size.
  for (const std::size_t bytes : {field.block_bytes - 1, field.block_bytes + 1,
                                  2 * field.block_bytes, 100 * field.block_bytes})
    blocks.push_back(encoded(field, 0, plain_block(bytes, 2)));
  blocks.push_back(good);
  return blocks;
}

}  // namespace

TEST_CASE(
    "block decoder: blocks that need no other library are decoded, whatever is left out of the "
    "build",
    "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::uint32_t element = GENERATE(1U, 2U, 3U, 4U, 8U, 12U, 100U, 1500U);
  const std::size_t elements = GENERATE(std::size_t{1}, std::size_t{40}, std::size_t{5003});
  const std::size_t rest = GENERATE(std::size_t{0}, std::size_t{1});
  check_decoding({{{}, elements}}, good_blocks({{}, elements}));
  const encoded_field bytes_first{{{byte_shuffle, element}, {fletcher32}},
                                  element * elements + (element == 1 ? 0 : rest)};
  check_decoding({bytes_first}, good_blocks(bytes_first));
  const encoded_field bits{{{fletcher32}, {byte_shuffle, 4}}, element * elements};
  check_decoding({bits}, good_blocks(bits));
  const encoded_field joined{{{bit_shuffle, element}}, element * elements};
  check_decoding({joined}, good_blocks(joined));
}

TEST_CASE("block decoder: checksums that differ are found", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t size =
      GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{4095}, std::size_t{300'001});
  const encoded_field field{{{fletcher32}}, size};
  std::vector<arriving_block> blocks{encoded(field, 0, plain_block(size, 1)),
                                     encoded(field, 0, std::vector<std::byte>(size)),
                                     encoded(field, 0, std::vector(size, std::byte{0xFF}))};
  for (std::size_t at = 0; at < size + 4; at += size / 9 + 1) {
    blocks.push_back(blocks.front());
    blocks.back().stored[at] ^= std::byte{0x80};
  }
  check_decoding({field}, blocks);
}

TEST_CASE("block decoder: deflate is decoded, with shuffles and checksums about it",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t size =
      GENERATE(std::size_t{8}, std::size_t{4096}, std::size_t{70'001}, std::size_t{400'000});
  const std::vector<std::vector<block_step>> pipelines{
      {{deflate}},
      {{byte_shuffle, 4}, {deflate}},
      {{byte_shuffle, 4}, {deflate}, {fletcher32}},
      {{fletcher32}, {byte_shuffle, 2}, {deflate}},
      {{bit_shuffle, 1}, {deflate}, {byte_shuffle, 2}}};
  for (const auto& steps : pipelines) {
    const encoded_field field{steps, size};
    check_decoding({field}, good_blocks(field));
  }
}

TEST_CASE("block decoder: fields with different steps are decoded in one call",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::vector<encoded_field> fields{
      {{{byte_shuffle, 4}, {deflate}}, 100'000}, {{{deflate}, {fletcher32}}, 5001}, {{}, 256}};
  std::vector<arriving_block> blocks;
  for (std::uint32_t i = 0; i < fields.size(); ++i)
    for (arriving_block& block : good_blocks(fields[i], i)) blocks.push_back(std::move(block));
  blocks[1].missing = true;
  check_decoding(fields, blocks);
}

TEST_CASE("block decoder: damaged, cut and lying streams are found, and nothing else is written",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t size = GENERATE(std::size_t{3000}, std::size_t{200'000});
  const encoded_field plain{{{deflate}}, size};
  check_decoding({plain}, damaged_blocks(plain));
  const encoded_field checked{{{byte_shuffle, 4}, {deflate}, {fletcher32}}, size};
  check_decoding({checked}, damaged_blocks(checked));
}

TEST_CASE("block decoder: for any stream, the GPU's verdict is the CPU's", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::mt19937 random{GENERATE(1U, 2U, 3U)};
  const encoded_field field{{{deflate}}, 20'000};
  std::vector<arriving_block> blocks;
  for (std::uint32_t i = 0; i < 600; ++i) {
    blocks.push_back(encoded(field, 0, plain_block(field.block_bytes, i)));
    auto& stored = blocks.back().stored;
    const auto some = [&](std::size_t count) { return random() % count; };
    switch (i % 6) {
      case 0:  // in the codes of a block, most likely
        stored[2 + some(60)] ^= static_cast<std::byte>(1U << some(8));
        break;
      case 1:
        stored[some(stored.size())] ^= static_cast<std::byte>(1U << some(8));
        break;
      case 2:
        stored.resize(1 + some(stored.size()));
        break;
      case 3:
        for (std::size_t at = 2 + some(40); at < stored.size(); ++at)
          stored[at] = static_cast<std::byte>(random());
        break;
      case 4:  // bytes after the stream are no damage
        stored.resize(stored.size() + some(9), std::byte{0x55});
        break;
      default:
        break;
    }
    // If a code is incomplete, libdeflate takes bits for a symbol that zlib and the GPU refuse.
    if (reference(field, blocks.back()).has_value() != zlib_takes(stored)) blocks.pop_back();
  }
  REQUIRE(blocks.size() > 580);
  check_decoding({field}, blocks);
}

TEST_CASE("block decoder: device_bytes needs no memory to be there yet", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto decoders = make_cuda_device(0)->capabilities().decodes;
  block_store store;
  store.places = 3;
  store.rows = 2;
  store.max_loads = 4;
  store.fields = {{.block_bytes = 100, .steps = {{fletcher32}}, .max_stored_bytes = 104}};
  const std::size_t small = decoders->device_bytes(store);
  store.fields[0].steps = {{fletcher32}, {byte_shuffle, 2}};
  CHECK(decoders->device_bytes(store) == small + 4 * 256);
  store.fields[0].steps = {{other}};
  CHECK_THROWS_AS(decoders->device_bytes(store), device_error);
}
