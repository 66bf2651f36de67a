/// Tests the arithmetic that kernels resize with, on the host: it gives the resampler's bits.

#include "image/resize/packed_taps.hpp"

#include "image/resize/resampler.hpp"
#include "support/checks/catch.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

/// An axis' records, in memory of just as many words as they may take.
struct records {
  records(interpolation filter, packed_taps::packing packing, std::uint32_t from, std::uint32_t to,
          std::uint32_t begin, std::uint32_t count, std::uint32_t source = 0,
          bool is_mirrored = false)
      : words(packed_taps::max_words(filter, from, count)) {
    const packed_taps taps{filter, packing, from, to, begin, source, is_mirrored};
    pairs = taps.pairs();
    REQUIRE(std::size_t{count} * (1 + pairs) <= words.size());
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::uint32_t pair = 0; pair < pairs; pair += 3)
        taps.write(i, pair, std::min(pair + 3, pairs), words.data() + std::size_t{i} * (1 + pairs));
  }

  [[nodiscard]] const std::uint32_t* of(std::uint32_t i) const {
    return words.data() + std::size_t{i} * (1 + pairs);
  }

  std::vector<std::uint32_t> words;
  std::uint32_t pairs = 0;
};

/// Eight bytes, aligned as those of a GPU's memory.
struct alignas(8) byte_group {
  std::uint8_t bytes[8];
};

/// A channel as a kernel has it, except for the bytes after it.
std::vector<byte_group> plane_of(const test::pixels& from, std::uint32_t channel) {
  const std::size_t groups = (from.width + 7) / 8;
  std::vector<byte_group> plane(groups * (from.height + max_rows_beyond),
                                {{9, 8, 7, 6, 5, 4, 3, 2}});
  for (std::uint32_t y = 0; y < from.height; ++y)
    for (std::uint32_t x = 0; x < from.width; ++x)
      plane[y * groups + x / 8].bytes[x % 8] = static_cast<std::uint8_t>(from.at(y, x, channel));
  return plane;
}

constexpr interpolation filters[] = {interpolation::bilinear, interpolation::bicubic,
                                     interpolation::nearest};

std::vector<std::uint8_t> by_records(interpolation filter, const test::pixels& from,
                                     const resample_window& window) {
  const image_extents to = window.extents;
  image_box source = window.source;
  if (source.extents.pixels() == 0) source = {0, 0, {from.height, from.width}};
  const records rows{filter,
                     packed_taps::packing::halves,
                     source.extents.height,
                     window.resized.height,
                     window.top,
                     to.height,
                     source.top,
                     window.mirrors_rows};
  const records columns{filter,
                        packed_taps::packing::bytes,
                        source.extents.width,
                        window.resized.width,
                        window.left,
                        to.width,
                        source.left,
                        window.mirrors_columns};
  const std::uint32_t groups = (from.width + 7) / 8;
  std::vector<std::uint8_t> out(3 * to.pixels());
  for (std::uint32_t channel = 0; channel < 3; ++channel) {
    const std::vector<byte_group> plane = plane_of(from, channel);
    for (std::uint32_t y = 0; y < to.height; ++y) {
      std::vector<std::uint32_t> line;
      for (std::uint32_t group = 0; group < groups; ++group) {
        const packed_line summed = sum_rows(plane[group].bytes, 8 * groups, rows.of(y), rows.pairs);
        line.insert(line.end(), summed.word, summed.word + 4);
      }
      line.resize(line.size() + 2, 0x12345678);  // it may be read on, and weighs nothing
      for (std::uint32_t x = 0; x < to.width; ++x) {
        const std::uint32_t* const record = columns.of(x);
        column_sum sum;
        for (std::uint32_t pair = 0; pair < columns.pairs; ++pair)
          sum.add(line[record[0] / 2 + pair], record[1 + pair]);
        out[(std::size_t{y} * to.width + x) * 3 + channel] = pixel_of(sum.sum());
      }
    }
  }
  return out;
}

std::vector<std::uint8_t> by_resampler(interpolation filter, const test::pixels& from,
                                       const resample_window& window) {
  pixel_image image;
  image.resize({from.height, from.width});
  std::copy(from.values.begin(), from.values.end(), image.data());
  std::vector<std::uint8_t> out(window.extents.pixels() * 3);
  resampler{filter}.resize(image, window, image_layout::hwc,
                           std::as_writable_bytes(std::span{out}));
  return out;
}

}  // namespace

TEST_CASE("packed taps: they resize as the resampler does", "[dataset][host]") {
  std::mt19937 random{5};
  const auto side = [&](std::uint32_t most) {
    return 1 + static_cast<std::uint32_t>(random() % most);
  };
  for (int i = 0; i < 200; ++i) {
    const image_extents from{side(i < 150 ? 90 : 900), side(90)};
    const image_extents wanted{side(60), side(60)};
    const std::uint32_t shorter = std::max(wanted.height, wanted.width) + side(9);
    const auto whole = resized_extents(from, wanted, i % 2 == 0 ? 0 : shorter);
    auto window = middle_window(whole, wanted);
    window.mirrors_rows = i % 3 == 1;
    window.mirrors_columns = i % 5 > 2;
    const auto image = test::paint(from.height, from.width, 3, static_cast<std::uint32_t>(i));
    CAPTURE(from.height, from.width, wanted.height, wanted.width, whole.height, whole.width);
    for (const interpolation filter : filters)
      REQUIRE(by_records(filter, image, window) == by_resampler(filter, image, window));
  }
}

TEST_CASE("packed taps: they resize a part of an image as the resampler does", "[dataset][host]") {
  std::mt19937 random{6};
  const auto side = [&](std::uint32_t most) {
    return 1 + static_cast<std::uint32_t>(random() % most);
  };
  for (int i = 0; i < 200; ++i) {
    const image_extents from{side(90), side(90)};
    image_box part{side(from.height) - 1, side(from.width) - 1, {}};
    part.extents = {side(from.height - part.top), side(from.width - part.left)};
    auto window = resized_part(part, {side(60), side(60)});
    window.mirrors_rows = i % 3 == 1;
    window.mirrors_columns = i % 5 > 2;
    const auto image = test::paint(from.height, from.width, 3, static_cast<std::uint32_t>(i));
    CAPTURE(part.top, part.left, part.extents.height, part.extents.width, window.extents.height,
            window.extents.width);
    for (const interpolation filter : filters)
      REQUIRE(by_records(filter, image, window) == by_resampler(filter, image, window));
  }
}

TEST_CASE("packed taps: records have room on axes of any length", "[dataset][host]") {
  using packing = packed_taps::packing;
  for (const interpolation filter : filters)
    for (const packing packs : {packing::halves, packing::bytes})
      for (const std::uint32_t from : {1U, 2U, 3U, 5U, 64U, 65U, 1000U, 65535U})
        for (const std::uint32_t to : {1U, 2U, 3U, 7U, 65U, 999U, 1000U, 32769U, 65535U}) {
          CAPTURE(filter, from, to);
          const packed_taps taps{filter, packs, from, to, 0};
          CHECK(std::uint64_t{to} * (1 + taps.pairs()) <= packed_taps::max_words(filter, from, to));
        }
}

TEST_CASE("packed taps: records are written out", "[dataset][host]") {
  using packing = packed_taps::packing;
  const auto words = [](packing packs, std::uint32_t from, std::uint32_t to, std::uint32_t i,
                        interpolation filter = interpolation::bilinear) {
    const packed_taps taps{filter, packs, from, to, i};
    std::vector<std::uint32_t> record(1 + taps.pairs());
    taps.write(0, 0, taps.pairs(), record.data());
    return record;
  };
  using values = std::vector<std::uint32_t>;
  // The weights of `resample_taps`: 2048, 6144, 6144, 2048, or 0x0800 and 0x1800, from element 1.
  CHECK(words(packing::halves, 8, 4, 1) == values{1, 0x18000800, 0x08001800});
  CHECK(words(packing::bytes, 8, 4, 1) == values{0, 0x08000000, 0x18180000, 0x00080000});
  // 7022, 7021, 2341, 0, from element 0.
  CHECK(words(packing::bytes, 8, 4, 0) == values{0, 0x1B1B6D6E, 0x00090025, 0});
  CHECK(words(packing::halves, 1, 5, 4) == values{0, 0x4000, 0});
  // -1194, 13613, 4443, -478, from element 0.
  CHECK(words(packing::halves, 5, 7, 2, interpolation::bicubic) ==
        values{0, 0x352DFB56, 0xFE22115B});
  CHECK(words(packing::bytes, 8, 4, 3, interpolation::nearest) == values{6, 0x40000000});
}
