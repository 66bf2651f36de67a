/// What a GPU refuses to decode, with and without nvCOMP. No GPU is asked.

#include <feedline/device/block_decoder.hpp>

#include "cuda/decode/decoders.hpp"
#include "cuda/decode/nvcomp.hpp"
#include "support/checks/catch.hpp"

#include <string>
#include <vector>

using namespace feedline;

namespace {

using enum block_filter;

std::string refusal(const std::vector<block_step>& steps) {
  return detail::make_cuda_block_decoders(0, "cuda:0")->refusal(steps);
}

}  // namespace

TEST_CASE("block decoders: shuffles, checksums and plain blocks need no nvCOMP",
          "[cuda][decode][host]") {
  CHECK(refusal({}).empty());
  CHECK(refusal({{byte_shuffle, 4}, {bit_shuffle, 2}, {fletcher32}}).empty());
}

TEST_CASE("block decoders: without nvCOMP the compression is refused, and what to install is said",
          "[cuda][decode][host]") {
  const std::string& why = detail::nvcomp::get().refusal();
  for (const auto& [filter, name] : {std::pair{deflate, "deflate"}, std::pair{zstd, "zstd"}}) {
    if (why.empty()) {
      CHECK(refusal({{byte_shuffle, 4}, {filter}}).empty());
    } else {
      CHECK(refusal({{byte_shuffle, 4}, {filter}}) == std::string{name} + " needs nvCOMP: " + why);
      CHECK(why.find("nvidia-libnvcomp-cu1") != std::string::npos);
    }
  }
}

TEST_CASE("block decoders: the first step that is not undone is named", "[cuda][decode][host]") {
  CHECK(refusal({{lz4}, {other}}) == "lz4 is not decoded by the GPU");
  CHECK(refusal({{other}, {deflate}}) == "a filter of its own is undone by CPUs alone");
}
