/// The blocks of a JPEG that a window of its pixels needs.

#include "codecs/jpeg/needed_blocks.hpp"

#include "support/checks/catch.hpp"
#include "support/images/image_bytes.hpp"
#include "support/images/jpeg_pixels.hpp"
#include "support/images/jpeg_scans.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

/// A window of an image, drawn.
struct window {
  std::uint32_t top;
  std::uint32_t left;
  std::uint32_t height;
  std::uint32_t width;

  static window draw(const jpeg_frame& frame, std::mt19937& random) {
    const auto side = [&](std::uint32_t from) {
      const auto begin = static_cast<std::uint32_t>(random() % from);
      return std::pair{begin, 1 + static_cast<std::uint32_t>(random() % (from - begin))};
    };
    const auto [top, height] = side(frame.height);
    const auto [left, width] = side(frame.width);
    return {top, left, height, width};
  }
  [[nodiscard]] jpeg_mcu_window needed(const jpeg_frame& frame) const {
    return needed_jpeg_mcus(frame, top, left, height, width);
  }
};

const std::vector<std::pair<int, int>> samplings{{1, 1}, {2, 1}, {2, 2}, {1, 2}};

test::byte_vector file_of(std::uint32_t height, std::uint32_t width,
                          const std::pair<int, int>& sampling) {
  return test::jpeg_bytes(test::paint(height, width, 3, height + width),
                          {.luma_across = sampling.first, .luma_down = sampling.second});
}

}  // namespace

TEST_CASE("needed jpeg blocks: steps visit each block of a window once, and no other",
          "[dataset][host]") {
  std::mt19937 random{3};
  for (const auto& sampling : samplings) {
    const test::byte_vector bytes = file_of(150, 205, sampling);
    const test::jpeg_file file{bytes};
    for (int i = 0; i < 40; ++i) {
      const jpeg_mcu_window needed = window::draw(file.frame, random).needed(file.frame);
      const auto apart = 1 + static_cast<std::uint32_t>(random() % 70);
      std::set<std::uint32_t> visited;
      std::uint32_t count = 0;
      for (std::uint32_t first = 0; first < apart; ++first) {
        jpeg_block_steps at{file.frame, needed, first, apart};
        count = at.count();
        for (std::uint32_t number = first; number < at.count(); number += apart, at.next()) {
          CHECK(visited.insert(at.block()).second);
          CHECK(at.unit() == at.block() % file.frame.blocks());
          const std::uint32_t mcu = at.block() / file.frame.blocks();
          const std::uint32_t row = mcu / file.frame.mcus_across();
          const std::uint32_t column = mcu % file.frame.mcus_across();
          CHECK((row >= needed.top && row < needed.top + needed.height));
          CHECK((column >= needed.left && column < needed.left + needed.width));
        }
      }
      CHECK(visited.size() == count);
      CHECK(count == needed.height * needed.width * file.frame.blocks());
    }
  }
}

TEST_CASE("needed jpeg blocks: a window's pixels are libjpeg's if no other block is transformed",
          "[dataset][host]") {
  std::mt19937 random{4};
  std::size_t left_out = 0;
  for (const auto& sampling : samplings)
    for (const auto& [height, width] : {std::pair{150U, 205U}, std::pair{33U, 300U}}) {
      const test::byte_vector bytes = file_of(height, width, sampling);
      const test::jpeg_file file{bytes};
      const test::pixels expected = test::decode_jpeg(bytes);
      const test::jpeg_scan_result scan = test::read_jpeg_scan<32>(file);
      REQUIRE(scan.is_whole);
      for (int i = 0; i < 12; ++i) {
        const window wanted = window::draw(file.frame, random);
        std::vector<bool> is_needed(file.blocks());
        jpeg_block_steps at{file.frame, wanted.needed(file.frame), 0, 1};
        for (std::uint32_t n = 0; n < at.count(); ++n, at.next()) is_needed[at.block()] = true;
        auto blocks = scan.blocks;
        // Blocks that are not needed hold anything.
        for (std::uint32_t block = 0; block < file.blocks(); ++block) {
          if (is_needed[block]) continue;
          ++left_out;
          for (std::size_t k = 0; k < jpeg_block_samples; ++k)
            blocks[block * jpeg_block_samples + k] = static_cast<std::int16_t>(random());
        }
        test::transform_jpeg_blocks(file, blocks);
        const test::pixels made = test::make_jpeg_pixels(
            file.frame, reinterpret_cast<const std::uint8_t*>(blocks.data()));
        bool is_same = true;
        for (std::uint32_t y = wanted.top; y < wanted.top + wanted.height; ++y)
          for (std::uint32_t x = wanted.left; x < wanted.left + wanted.width; ++x)
            for (std::uint32_t channel = 0; channel < 3; ++channel)
              is_same = is_same && made.at(y, x, channel) == expected.at(y, x, channel);
        CAPTURE(sampling.first, sampling.second, wanted.top, wanted.left, wanted.height,
                wanted.width);
        CHECK(is_same);
      }
    }
  CHECK(left_out > 1000);
}
