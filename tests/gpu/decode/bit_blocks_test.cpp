/// Blocks of shuffled bits that are compressed, decoded by the GPU: against the CPU's filter,
/// and, of damaged ones, against the same decoders on the host, which refuse some that libraries
/// take.

#include "support/files/bit_blocks.hpp"

#include <feedline/backend/block_decoder.hpp>

#include "gpu/decode/encoded_case.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/files/content_maker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using enum block_filter;

block_filter any_filter() {
  return GENERATE(bit_shuffle_lz4, bit_shuffle_zstd);
}

bit_compression compression_of(block_filter filter) {
  return filter == bit_shuffle_lz4 ? bit_compression::lz4 : bit_compression::zstd;
}

std::vector<std::byte> draw(content_maker& make, std::size_t kind, std::size_t size) {
  const auto plain = make.plain(kind, size);
  const auto* const raw = reinterpret_cast<const std::byte*>(plain.data());
  return {raw, raw + size};
}

}  // namespace

TEST_CASE("block decoder: bit shuffles that compress are undone, with others about them",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const block_filter filter = any_filter();
  const std::size_t size =
      GENERATE(std::size_t{8}, std::size_t{4096}, std::size_t{70'008}, std::size_t{400'000});
  const std::vector<std::vector<block_step>> pipelines{
      {{filter, 1}},
      {{filter, 8}},
      {{filter, 4}, {fletcher32}},
      {{fletcher32}, {byte_shuffle, 2}, {filter, 4}},
      {{bit_shuffle, 2}, {filter, 4}, {byte_shuffle, 2}}};
  for (const auto& steps : pipelines) {
    const encoded_field field{steps, size};
    std::vector<arriving_block> blocks;
    for (std::uint32_t skipped = 0; skipped < 1U << steps.size(); ++skipped)
      blocks.push_back(encoded(field, 0, plain_block(size, skipped), skipped));
    check_decoding({field}, blocks);
  }
}

TEST_CASE("block decoder: bits are shuffled in blocks of any size", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const block_filter filter = any_filter();
  const std::uint32_t element = GENERATE(1U, 2U, 3U, 4U, 8U, 300U);
  content_maker make{element};
  for (const std::size_t elements : {3U, 9U, 600U, 50'001U}) {
    const std::size_t size = elements * element;
    if (size > 500'000) continue;
    std::vector<arriving_block> blocks;
    for (std::size_t i = 0; i < 3 * content_maker::kinds; ++i) {
      const std::size_t block = std::vector<std::size_t>{0, 64, 136, 1024, 8192}[i % 5];
      blocks.push_back({.stored = bitshuffled(draw(make, i % content_maker::kinds, size), element,
                                              block, compression_of(filter))});
    }
    check_decoding({{{{filter, element}}, size}}, blocks);
  }
}

TEST_CASE("block decoder: damage of bit shuffles that compress is found, and nothing else written",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const block_filter filter = any_filter();
  const std::size_t size = GENERATE(std::size_t{3004}, std::size_t{40'000}, std::size_t{200'704});
  content_maker make{GENERATE(1U, 2U)};
  std::vector<arriving_block> blocks;
  for (std::size_t i = 0; i < (size > 100'000 ? 60U : 300U); ++i) {
    const auto frame = bitshuffled(draw(make, i % content_maker::kinds, size), 4,
                                   8 * make.below(300), compression_of(filter));
    const auto* const raw = reinterpret_cast<const unsigned char*>(frame.data());
    std::vector<unsigned char> packed(raw, raw + frame.size());
    if (i % 6 != 0) make.damage(packed);
    if (packed.empty()) continue;
    const auto* const stored = reinterpret_cast<const std::byte*>(packed.data());
    arriving_block block{.stored = {stored, stored + packed.size()}};
    block.refused = !bit_blocks::by_feedline({compression_of(filter), 4}, block.stored, size);
    blocks.push_back(std::move(block));
  }
  check_decoding({{{{filter, 4}}, size}}, blocks);
}
