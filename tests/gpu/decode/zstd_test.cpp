/// Frames of Zstandard decoded by the GPU: against libzstd, and, of damaged ones, against the same
/// decoder on the host, which refuses some that libzstd takes.

#include <feedline/backend/block_decoder.hpp>

#include "gpu/decode/encoded_case.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/files/zstd_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using enum block_filter;

arriving_block arriving(const zstd::bytes& frames) {
  const auto* const raw = reinterpret_cast<const std::byte*>(frames.data());
  return {.stored = {raw, raw + frames.size()}};
}

zstd::bytes stored(const arriving_block& block) {
  const auto* const raw = reinterpret_cast<const unsigned char*>(block.stored.data());
  return {raw, raw + block.stored.size()};
}

/// Decodes blocks that may be damaged, where the host's warp says which.
void check_frames(std::size_t size, std::vector<arriving_block> blocks) {
  for (arriving_block& block : blocks) block.refused = !zstd::by_feedline(stored(block), size);
  check_decoding({{{{block_filter::zstd}}, size}}, blocks);
}

}  // namespace

TEST_CASE("block decoder: Zstandard is decoded, with shuffles and checksums about it",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t size =
      GENERATE(std::size_t{8}, std::size_t{4096}, std::size_t{70'001}, std::size_t{400'000});
  const std::vector<std::vector<block_step>> pipelines{
      {{block_filter::zstd}},
      {{byte_shuffle, 4}, {block_filter::zstd}},
      {{byte_shuffle, 4}, {block_filter::zstd}, {fletcher32}},
      {{fletcher32}, {byte_shuffle, 2}, {block_filter::zstd}},
      {{bit_shuffle, 1}, {block_filter::zstd}, {byte_shuffle, 2}}};
  for (const auto& steps : pipelines) {
    const encoded_field field{steps, size};
    std::vector<arriving_block> blocks;
    for (std::uint32_t skipped = 0; skipped < 1U << steps.size(); ++skipped)
      blocks.push_back(encoded(field, 0, plain_block(size, skipped), skipped));
    check_decoding({field}, blocks);
  }
}

TEST_CASE("block decoder: frames of Zstandard of all kinds are decoded", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  zstd::frame_maker make{GENERATE(1U, 2U)};
  const std::size_t size = GENERATE(std::size_t{1}, std::size_t{259}, std::size_t{4100},
                                    std::size_t{131'072}, std::size_t{200'704});
  std::vector<arriving_block> blocks;
  for (std::size_t i = 0; i < 6 * zstd::frame_maker::kinds; ++i) {
    zstd::bytes frames;
    // In two frames, with one that is skipped between them, now and then.
    const std::size_t first = i % 5 == 0 ? make.below(size) : size;
    for (const std::size_t part : {first, size - first}) {
      if (part == 0) continue;
      const auto packed =
          make.packed(make.plain(i % zstd::frame_maker::kinds, part), make.below(2) == 0);
      frames.insert(frames.end(), packed.begin(), packed.end());
      if (i % 4 != 0) continue;
      const auto skipped = zstd::frame_maker::skippable(make.below(9));
      frames.insert(frames.end(), skipped.begin(), skipped.end());
    }
    blocks.push_back(arriving(frames));
    REQUIRE(zstd::by_libzstd(frames, size));
  }
  check_decoding({{{{block_filter::zstd}}, size}}, blocks);
}

TEST_CASE("block decoder: damaged frames of Zstandard are found, and nothing else is written",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  zstd::frame_maker make{GENERATE(1U, 2U, 3U)};
  const std::size_t size = GENERATE(std::size_t{3001}, std::size_t{20'000}, std::size_t{200'704});
  std::vector<arriving_block> blocks;
  for (std::size_t i = 0; i < (size > 100'000 ? 90U : 600U); ++i) {
    zstd::bytes frames =
        make.packed(make.plain(i % zstd::frame_maker::kinds, size), make.below(4) == 0);
    if (i % 6 != 0) make.damage(frames);
    if (frames.empty()) continue;
    blocks.push_back(arriving(frames));
  }
  // Frames that decode well, but not to a block's size.
  for (const std::size_t bytes : {size - 1, size + 1, 2 * size, 100 * size})
    blocks.push_back(arriving(make.packed(make.plain(6, bytes), false)));
  blocks.push_back(arriving(zstd::frame_maker::skippable(100)));
  blocks.push_back(arriving(zstd::bytes{0}));
  check_frames(size, std::move(blocks));
}
