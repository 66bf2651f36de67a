/// Compares the reader of a JPEG's header with libjpeg's encoder. Each file has its own allocation,
/// so that sanitizers see any read outside of it.

#include "codecs/jpeg/frame.hpp"

#include "support/checks/catch.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>

using namespace feedline;
using test::byte_vector;
using test::jpeg_bytes;
using test::jpeg_style;
using test::paint;

namespace {

std::optional<detail::jpeg_frame> frame_of(const byte_vector& file) {
  const auto own = std::make_unique<std::uint8_t[]>(file.size());
  if (!file.empty()) std::memcpy(own.get(), file.data(), file.size());
  detail::jpeg_frame frame;
  return detail::read_jpeg_frame(own.get(), file.size(), frame) ? std::optional{frame}
                                                                : std::nullopt;
}

/// Position after a marker's two bytes.
std::size_t behind(const byte_vector& file, unsigned marker) {
  for (std::size_t i = 0; i + 1 < file.size(); ++i)
    if (file[i] == std::byte{0xFF} && file[i + 1] == std::byte(marker)) return i + 2;
  FAIL("there is no such marker");
  return 0;
}

byte_vector with(byte_vector file, std::size_t place, unsigned value) {
  file.at(place) = std::byte(value);
  return file;
}

byte_vector inserted(byte_vector file, std::size_t place, const std::vector<unsigned>& values) {
  byte_vector more;
  for (const unsigned value : values) more.push_back(std::byte(value));
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(place), more.begin(), more.end());
  return file;
}

/// A photograph's usual file: JFIF, 4:2:0.
byte_vector usual() {
  return jpeg_bytes(paint(37, 51));
}

const std::vector<unsigned> adobe{0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0};

/// An Adobe marker, and no JFIF.
byte_vector of_adobe(unsigned transform) {
  byte_vector file = usual();
  file.erase(file.begin() + 2, file.begin() + 20);
  std::vector<unsigned> marker = adobe;
  marker.push_back(transform);
  return inserted(file, 2, marker);
}

}  // namespace

TEST_CASE("jpeg frame: all samplings that devices decode are read as they were written",
          "[dataset][host]") {
  const auto [across, down] =
      GENERATE(std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}, std::pair{2, 2}, std::pair{4, 1});
  for (const auto& [height, width] :
       {std::pair{37U, 51U}, std::pair{1U, 1U}, std::pair{8U, 300U}}) {
    const auto frame = frame_of(jpeg_bytes(
        paint(height, width), {.luma_across = across, .luma_down = down, .restart_interval = 5}));
    REQUIRE(frame);
    CHECK(frame->height == height);
    CHECK(frame->width == width);
    CHECK(frame->components == 3);
    CHECK(frame->luma_across == across);
    CHECK(frame->luma_down == down);
    CHECK(frame->restart_interval == 5);
    CHECK(frame->tables[0].quantization == 0);
    CHECK(frame->tables[2].quantization == 1);
    CHECK(frame->tables[0].dc == 0);
    CHECK(frame->tables[1].dc == 1);
    CHECK(frame->tables[0].ac == 0);
    CHECK(frame->tables[1].ac == 1);
  }
}

TEST_CASE("jpeg frame: grey has one component, and no table that it does not name",
          "[dataset][host]") {
  const auto file = jpeg_bytes(paint(20, 30, 1));
  const auto frame = frame_of(file);
  REQUIRE(frame);
  CHECK(frame->components == 1);
  CHECK(frame->restart_interval == 0);
  CHECK(frame->huffman[0] == behind(file, 0xC4) + 3);
  CHECK(frame->huffman[1] == 0);
  CHECK(frame->huffman[3] == 0);
  CHECK(frame->scan == behind(file, 0xDA) + 8);
}

TEST_CASE("jpeg frame: files that a device might not take are refused", "[dataset][host]") {
  CHECK(frame_of(usual()));
  CHECK_FALSE(frame_of({}));
  CHECK_FALSE(frame_of(test::png_bytes(paint(8, 8))));
  CHECK_FALSE(frame_of(jpeg_bytes(paint(37, 51), {.is_progressive = true})));
  CHECK_FALSE(frame_of(jpeg_bytes(paint(37, 51, 4))));
  CHECK_FALSE(frame_of(jpeg_bytes(paint(37, 51), {.is_rgb = true})));
  CHECK_FALSE(frame_of(jpeg_bytes(paint(37, 51), {.luma_across = 4, .luma_down = 2})));
  CHECK_FALSE(frame_of(jpeg_bytes(paint(37, 51), {.luma_across = 3, .luma_down = 1})));
  CHECK_FALSE(frame_of(jpeg_bytes(paint(37, 51), {.luma_across = 1, .luma_down = 4})));
  const auto file = usual();
  const std::size_t sof = behind(file, 0xC0);
  for (const unsigned other : {0xC1U, 0xC2U, 0xC3U, 0xC9U, 0xDCU, 0xD8U})
    CHECK_FALSE(frame_of(with(file, sof - 1, other)));
  CHECK_FALSE(frame_of(with(file, sof + 2, 12)));                         // bits
  CHECK_FALSE(frame_of(with(with(file, sof + 3, 0), sof + 4, 0)));        // height
  CHECK_FALSE(frame_of(with(with(file, sof + 5, 0), sof + 6, 0)));        // width
  CHECK_FALSE(frame_of(with(with(file, sof + 3, 0xFF), sof + 4, 0xFF)));  // libjpeg's limit
  CHECK_FALSE(frame_of(with(file, sof + 10, 4)));                         // quantization
  CHECK_FALSE(frame_of(with(file, sof + 10, 2)));                         // not defined
  CHECK_FALSE(frame_of(with(file, sof + 12, 0x21)));                      // chroma
  CHECK_FALSE(frame_of(with(file, sof + 11, std::to_integer<unsigned>(file[sof + 8]))));  // ids
  CHECK_FALSE(frame_of(with(file, behind(file, 0xDB) + 2, 0x10)));                        // 16 bits
  CHECK_FALSE(frame_of(with(file, behind(file, 0xDB) + 9, 0)));                           // zero
  const byte_vector again{file.begin() + static_cast<std::ptrdiff_t>(sof) - 2,
                          file.begin() + static_cast<std::ptrdiff_t>(sof) + 17};
  byte_vector twice = file;
  twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(sof) - 2, again.begin(), again.end());
  CHECK_FALSE(frame_of(twice));
}

TEST_CASE("jpeg frame: scans other than one of all components are refused", "[dataset][host]") {
  const auto file = usual();
  const std::size_t sos = behind(file, 0xDA);
  CHECK_FALSE(frame_of(with(file, sos + 2, 1)));
  CHECK_FALSE(frame_of(with(file, sos + 3, 2)));      // the first component's id
  CHECK_FALSE(frame_of(with(file, sos + 4, 0x02)));   // a table that baseline files lack
  CHECK_FALSE(frame_of(with(file, sos + 9, 1)));      // Ss
  CHECK_FALSE(frame_of(with(file, sos + 10, 62)));    // Se
  CHECK_FALSE(frame_of(with(file, sos + 11, 0x10)));  // Ah
  CHECK_FALSE(frame_of(with(file, sos + 11, 0x01)));  // Al
  const auto grey = jpeg_bytes(paint(20, 30, 1));
  CHECK_FALSE(frame_of(with(grey, behind(grey, 0xDA) + 4, 0x10)));  // not defined
  CHECK_FALSE(frame_of(with(grey, behind(grey, 0xDA) + 4, 0x01)));
}

TEST_CASE("jpeg frame: Adobe's marker names the colours, and markers without meaning are skipped",
          "[dataset][host]") {
  CHECK(frame_of(of_adobe(1)));
  CHECK_FALSE(frame_of(of_adobe(0)));
  CHECK_FALSE(frame_of(of_adobe(2)));
  const auto file = usual();
  CHECK(frame_of(inserted(file, 2, {0xFF, 0xFE, 0, 4, 7, 7})));
  CHECK(frame_of(inserted(file, 2, {0xFF, 0xFF, 0xFF, 0xE5, 0, 2})));
  CHECK_FALSE(frame_of(inserted(file, 2, {0xFF, 0xFE, 0, 1})));
  CHECK_FALSE(frame_of(inserted(file, 2, {0xFF, 0xD0})));
  CHECK_FALSE(frame_of(inserted(file, 2, {0xFF, 0xDD, 0, 5, 0, 1, 0})));
}

TEST_CASE("jpeg frame: stray bytes before a marker are skipped and reported", "[dataset][host]") {
  const auto file = usual();
  const auto frame = frame_of(file);
  REQUIRE(frame);
  CHECK_FALSE(frame->has_stray_bytes);
  for (const unsigned marker : {0xE0U, 0xDBU, 0xC0U, 0xC4U, 0xDAU}) {
    CAPTURE(marker);
    const std::size_t place = behind(file, marker) - 2;
    const auto seen = frame_of(inserted(file, place, {0, 1, 0xFF, 0, 0xD0}));
    REQUIRE(seen);
    CHECK(seen->has_stray_bytes);
    CHECK(seen->scan == frame->scan + 5);
    CHECK_FALSE(frame_of(inserted(file, place, {0, 0xFF, 0xD0})));  // a scan's marker
  }
}

TEST_CASE("jpeg frame: Huffman tables that are no code, or have invalid symbols, are refused",
          "[dataset][host]") {
  const auto file = jpeg_bytes(paint(20, 30, 1));
  const std::size_t dc = behind(file, 0xC4) + 2;
  CHECK_FALSE(frame_of(with(file, dc, 0x02)));   // a third table
  CHECK_FALSE(frame_of(with(file, dc, 0x20)));   // neither DC nor AC
  CHECK_FALSE(frame_of(with(file, dc + 1, 2)));  // both codes of one bit
  const std::vector<unsigned> none(15);
  const auto with_table = [&](unsigned ones, std::vector<unsigned> symbols, unsigned length) {
    std::vector<unsigned> table{0xFF, 0xC4, 0, length, 0, ones};
    table.insert(table.end(), none.begin(), none.end());
    table.insert(table.end(), symbols.begin(), symbols.end());
    return inserted(file, 2, table);
  };
  CHECK(frame_of(with_table(1, {0}, 20)));
  CHECK_FALSE(frame_of(with_table(0, {}, 19)));      // no code
  CHECK_FALSE(frame_of(with_table(2, {0, 1}, 21)));  // one of ones alone
  CHECK_FALSE(frame_of(with_table(1, {0}, 19)));     // its symbol is after the segment
  CHECK_FALSE(frame_of(with(file, dc + 16, 200)));   // more symbols than there are
  CHECK_FALSE(frame_of(with(file, dc + 17, 12)));    // DC category
  const std::size_t ac = dc + 17 + 12 + 4;           // after the table, a marker and a length
  REQUIRE(file[ac] == std::byte{0x10});
  CHECK(frame_of(with(file, ac + 17, 0x0A)));
  CHECK_FALSE(frame_of(with(file, ac + 17, 0x0B)));  // AC size
  CHECK_FALSE(frame_of(with(file, ac + 17, 0x10)));  // only for progressive files
}

TEST_CASE("jpeg frame: a header that is cut is refused, wherever that is", "[dataset][host]") {
  const auto file = jpeg_bytes(paint(37, 51), {.restart_interval = 3});
  const auto frame = frame_of(file);
  REQUIRE(frame);
  for (std::size_t bytes = 0; bytes < frame->scan; ++bytes) {
    INFO(bytes);
    CHECK_FALSE(frame_of({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes)}));
  }
  CHECK(frame_of({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(frame->scan)}));
}

TEST_CASE("jpeg frame: whatever a header says, nothing is read outside the file",
          "[dataset][host]") {
  const auto file = usual();
  const std::size_t header = frame_of(file)->scan;
  std::mt19937 random{7};
  for (int round = 0; round < 4000; ++round) {
    byte_vector damaged{file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header)};
    for (auto left = 1 + random() % 3; left > 0; --left)
      damaged[random() % header] = std::byte(random() % 256);
    if (const auto frame = frame_of(damaged)) REQUIRE(frame->scan <= header);
  }
}
