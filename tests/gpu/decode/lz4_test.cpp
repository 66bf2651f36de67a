/// Blocks of LZ4 decoded by the GPU: against liblz4, and, of damaged ones, against the same decoder
/// on the host, which refuses some that liblz4 takes.

#include <feedline/backend/block_decoder.hpp>

#include "gpu/decode/encoded_case.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/files/lz4_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using enum block_filter;

arriving_block arriving(const lz4::bytes& frame) {
  const auto* const raw = reinterpret_cast<const std::byte*>(frame.data());
  return {.stored = {raw, raw + frame.size()}};
}

lz4::bytes stored(const arriving_block& block) {
  const auto* const raw = reinterpret_cast<const unsigned char*>(block.stored.data());
  return {raw, raw + block.stored.size()};
}

/// Decodes blocks that may be damaged, where the host's warp says which.
void check_frames(std::size_t size, std::vector<arriving_block> blocks) {
  for (arriving_block& block : blocks) block.refused = !lz4::by_feedline(stored(block), size);
  check_decoding({{{{block_filter::lz4}}, size}}, blocks);
}

}  // namespace

TEST_CASE("block decoder: LZ4 is decoded, with shuffles and checksums about it",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t size =
      GENERATE(std::size_t{8}, std::size_t{4096}, std::size_t{70'001}, std::size_t{400'000});
  const std::vector<std::vector<block_step>> pipelines{
      {{block_filter::lz4}},
      {{byte_shuffle, 4}, {block_filter::lz4}},
      {{byte_shuffle, 4}, {block_filter::lz4}, {fletcher32}},
      {{fletcher32}, {byte_shuffle, 2}, {block_filter::lz4}},
      {{bit_shuffle, 1}, {block_filter::lz4}, {byte_shuffle, 2}}};
  for (const auto& steps : pipelines) {
    const encoded_field field{steps, size};
    std::vector<arriving_block> blocks;
    for (std::uint32_t skipped = 0; skipped < 1U << steps.size(); ++skipped)
      blocks.push_back(encoded(field, 0, plain_block(size, skipped), skipped));
    check_decoding({field}, blocks);
  }
}

TEST_CASE("block decoder: frames of LZ4 of all kinds are decoded", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  lz4::frame_maker make{GENERATE(1U, 2U)};
  const std::size_t size = GENERATE(std::size_t{1}, std::size_t{259}, std::size_t{4100},
                                    std::size_t{65'536}, std::size_t{200'704});
  std::vector<arriving_block> blocks;
  for (std::size_t i = 0; i < 6 * lz4::frame_maker::kinds; ++i) {
    const auto plain = make.plain(i % lz4::frame_maker::kinds, size);
    const auto frame = lz4::packed(plain, make.block(size), make.level());
    blocks.push_back(arriving(frame));
    REQUIRE(lz4::by_filter(frame, size) == plain);
  }
  check_decoding({{{{block_filter::lz4}}, size}}, blocks);
}

TEST_CASE("block decoder: damaged frames of LZ4 are found, and nothing else is written",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  lz4::frame_maker make{GENERATE(1U, 2U, 3U)};
  const std::size_t size = GENERATE(std::size_t{3001}, std::size_t{20'000}, std::size_t{200'704});
  std::vector<arriving_block> blocks;
  for (std::size_t i = 0; i < (size > 100'000 ? 90U : 600U); ++i) {
    lz4::bytes frame =
        lz4::packed(make.plain(i % lz4::frame_maker::kinds, size), make.block(size), make.level());
    if (i % 6 != 0) make.damage(frame);
    if (frame.empty()) continue;
    blocks.push_back(arriving(frame));
  }
  // Frames that decode well, but not to a block's size.
  for (const std::size_t bytes : {size - 1, size + 1, 2 * size, 100 * size})
    blocks.push_back(arriving(lz4::packed(make.plain(6, bytes), 1U << 30U, 1)));
  // Lengths that do not fit in 32 bits.
  lz4::bytes more(17'000'000, 255);
  more.front() = 0xF0;
  blocks.push_back(arriving(lz4::framed(more, size)));
  blocks.push_back(arriving(lz4::bytes{0}));
  check_frames(size, std::move(blocks));
}
