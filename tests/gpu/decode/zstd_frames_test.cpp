/// What is looked at of a Zstandard frame before nvCOMP sees it, which needs no GPU.

#include "cuda/decode/zstd_frames.hpp"

#include "support/checks/catch.hpp"
#include "support/hdf5/encoders.hpp"

#include <memory>
#include <vector>

using namespace feedline;
using feedline::detail::is_zstd_frame;
using feedline::test::bytes;

namespace {

bytes block_of(std::size_t size) {
  bytes block(size);
  for (std::size_t i = 0; i < size; ++i) block[i] = static_cast<std::byte>(i / 7 % 251 + i % 3);
  return block;
}

/// In memory of its own, so that a sanitizer sees a read beyond it.
bool is_frame(const bytes& stream, std::uint64_t decoded) {
  const auto own = std::make_unique<std::byte[]>(stream.size());
  std::copy(stream.begin(), stream.end(), own.get());
  return is_zstd_frame(own.get(), stream.size(), decoded);
}

}  // namespace

TEST_CASE("zstd frames: frames of any size are taken", "[cuda][decode][host]") {
  if (!test::has_zstd) FEEDLINE_SKIP("no libzstd");
  const std::size_t size = GENERATE(std::size_t{1}, std::size_t{255}, std::size_t{256},
                                    std::size_t{65'791}, std::size_t{65'792}, std::size_t{400'000});
  const int level = GENERATE(1, 19);
  CHECK(is_frame(test::zstd_packed(block_of(size), level), size));
}

TEST_CASE("zstd frames: false sizes and what is cut off are refused", "[cuda][decode][host]") {
  if (!test::has_zstd) FEEDLINE_SKIP("no libzstd");
  const std::size_t size = GENERATE(std::size_t{300}, std::size_t{300'000});
  const bytes whole = test::zstd_packed(block_of(size));
  REQUIRE(is_frame(whole, size));
  CHECK(!is_frame(whole, size - 1));
  CHECK(!is_frame(whole, size + 1));
  for (std::size_t kept = 0; kept < whole.size(); kept += kept < 64 ? 1 : 37)
    CHECK(!is_frame({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)}, size));
  bytes longer = whole;
  longer.push_back(std::byte{});
  CHECK(!is_frame(longer, size));
}

TEST_CASE("zstd frames: no damage to a frame's head makes it read beyond the end",
          "[cuda][decode][host]") {
  if (!test::has_zstd) FEEDLINE_SKIP("no libzstd");
  const bytes whole = test::zstd_packed(block_of(3000));
  for (std::size_t at = 0; at < 16 && at < whole.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      bytes damaged = whole;
      damaged[at] = static_cast<std::byte>(value);
      (void)is_frame(damaged, 3000);
      if (at < 4 && damaged != whole) CHECK(!is_frame(damaged, 3000));
    }
  }
  CHECK(is_frame({std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F}, std::byte{0xFD},
                  std::byte{0x20}, std::byte{}, std::byte{1}, std::byte{}, std::byte{}},
                 0));
}
