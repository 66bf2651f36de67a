/// Frames of Blosc and gzip files, decoded by the GPU: against the CPU's decoders.

#include <feedline/backend/block_decoder.hpp>

#include "gpu/decode/encoded_case.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/hdf5/encoders.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using enum block_filter;

bytes noise(std::size_t size) {
  bytes made(size);
  std::uint64_t state = size;
  for (std::byte& each : made) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    each = static_cast<std::byte>(state >> 56U);
  }
  return made;
}

}  // namespace

TEST_CASE("block decoder: frames of Blosc and gzip files are undone, with others about them",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t size =
      GENERATE(std::size_t{8}, std::size_t{4096}, std::size_t{70'008}, std::size_t{1'400'000});
  const std::vector<std::vector<block_step>> pipelines{
      {{blosc_lz4, 4}},
      {{blosc_zstd, 4}},
      {{blosc_lz4, 1}},
      {{blosc_zstd, 8}},
      {{blosc_zlib, 4}},
      {{blosc_zlib, 1}, {fletcher32}},
      {{blosc_lz4, 4}, {fletcher32}},
      {{fletcher32}, {byte_shuffle, 2}, {blosc_zstd, 2}},
      {{gzip}},
      {{byte_shuffle, 4}, {gzip}},
      {{fletcher32}, {byte_shuffle, 2}, {gzip}}};
  for (const auto& steps : pipelines) {
    const encoded_field field{steps, size};
    std::vector<arriving_block> blocks;
    for (std::uint32_t skipped = 0; skipped < 1U << steps.size(); ++skipped)
      blocks.push_back(encoded(field, 0, plain_block(size, skipped), skipped));
    blocks.push_back(encoded(field, 0, noise(size)));  // stored as it is
    check_decoding({field}, blocks);
  }
}

TEST_CASE("block decoder: frames of Blosc with every shuffle, element and compressor",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t size = GENERATE(std::size_t{100}, std::size_t{300'003}, std::size_t{2'000'000});
  const std::string compressor = GENERATE("lz4", "lz4hc", "zstd", "zlib", "blosclz");
  const block_filter filter = compressor == "zstd"   ? blosc_zstd
                              : compressor == "zlib" ? blosc_zlib
                                                     : blosc_lz4;
  const encoded_field field{{{filter, 1}}, size};
  std::vector<arriving_block> blocks;
  for (const int shuffle : {0, 1, 2})
    for (const std::size_t element : {1U, 2U, 3U, 4U, 8U, 16U, 17U, 255U}) {
      blocks.push_back(
          {.field = 0,
           .stored = blosc_packed(plain_block(size, 3), element, compressor.c_str(), shuffle)});
      // A frame of another compressor than the field's, unless it is stored as it is.
      blocks.back().refused =
          compressor == "blosclz" && (std::to_integer<int>(blocks.back().stored[2]) & 2) == 0;
    }
  check_decoding({field}, blocks);
}

TEST_CASE("block decoder: damaged frames of Blosc and gzip files do no harm",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const block_filter filter = GENERATE(blosc_lz4, blosc_zstd, blosc_zlib, gzip);
  const encoded_field field{{{filter, 4}}, 20'000};
  const arriving_block good = encoded(field, 0, plain_block(20'000, 1));
  std::vector<arriving_block> blocks;
  for (std::size_t i = 0; i < 60; ++i) {
    arriving_block cut = good;
    cut.stored.resize(1 + good.stored.size() * i / 60);
    blocks.push_back(cut);
    if (filter == gzip) {  // its checksum tells
      arriving_block flipped = good;
      flipped.stored[10 + (good.stored.size() - 10) * i / 60] ^= std::byte{4};
      blocks.push_back(flipped);
    }
  }
  check_decoding({field}, blocks);
}
