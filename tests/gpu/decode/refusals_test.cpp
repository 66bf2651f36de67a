/// Tests the blocks that a GPU refuses to decode. No GPU is needed.

#include <feedline/backend/block_decoder.hpp>

#include "cuda/decode/decoders.hpp"
#include "support/checks/catch.hpp"

#include <string>
#include <vector>

using namespace feedline;

namespace {

using enum block_filter;

std::string refusal(const std::vector<block_step>& steps) {
  return detail::make_cuda_block_decoders(0, "cuda:0", 0)->refusal(steps);
}

}  // namespace

TEST_CASE("block decoders: deflate, Zstandard, LZ4, shuffles, checksums and images are decoded",
          "[cuda][decode][host]") {
  CHECK(refusal({}).empty());
  CHECK(refusal({{byte_shuffle, 4}, {bit_shuffle, 2}, {deflate}, {fletcher32}}).empty());
  CHECK(refusal({{byte_shuffle, 4}, {zstd}}).empty());
  CHECK(refusal({{byte_shuffle, 4}, {lz4}}).empty());
  CHECK(refusal({{bit_shuffle_lz4, 4}, {fletcher32}}).empty());
  CHECK(refusal({{bit_shuffle_zstd, 4}}).empty());
  CHECK(refusal({{.filter = image, .image = {.height = 8, .width = 8}}}).empty());
}

TEST_CASE("block decoders: the first step that is not undone is named", "[cuda][decode][host]") {
  CHECK(refusal({{bit_shuffle_lz4, 0}, {other}}) == "bit shuffle with lz4 of elements of 0 bytes");
  CHECK(refusal({{other}, {deflate}}) == "a filter of its own is undone by CPUs alone");
}
