/// Scans that the lanes of a team decode together, against one reader: files of several sizes and
/// samplings, most of them damaged.

#include "codecs/jpeg/scan_segments.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/sanitized.hpp"
#include "support/images/image_bytes.hpp"
#include "support/images/jpeg_scans.hpp"

#include <algorithm>
#include <numeric>
#include <random>

using namespace feedline;
using test::byte_vector;
using test::jpeg_bytes;
using test::jpeg_file;
using test::jpeg_scan_result;
using test::jpeg_style;
using test::paint;
using test::read_jpeg_scan;

namespace {

/// Result of one reader for a file; checks that lanes give the same.
/// @return With the rounds of 32 lanes.
jpeg_scan_result check(const jpeg_file& file) {
  jpeg_scan_result one = read_jpeg_scan<0>(file);
  const jpeg_scan_result few = read_jpeg_scan<32>(file);
  const jpeg_scan_result many = read_jpeg_scan<128>(file);
  CHECK(few.is_whole == one.is_whole);
  CHECK(many.is_whole == one.is_whole);
  if (one.is_whole) {
    CHECK((few.blocks == one.blocks));
    CHECK((many.blocks == one.blocks));
  }
  one.rounds = few.rounds;
  return one;
}

struct picture {
  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t channels;
  jpeg_style style;
};

const std::vector<picture> pictures{
    {300, 400, 3, {}},
    {300, 400, 3, {.quality = 95}},
    {260, 300, 3, {.quality = 90, .luma_across = 1, .luma_down = 1}},
    {301, 299, 3, {.quality = 90, .luma_across = 2, .luma_down = 1}},
    {300, 310, 3, {.quality = 95, .luma_across = 1, .luma_down = 2}},
    {350, 400, 3, {.has_optimal_codes = true}},
    {300, 400, 1, {.quality = 95}},
    {300, 400, 3, {.quality = 100}},
    {300, 400, 3, {.quality = 90, .restart_interval = 5}},
    {30, 40, 3, {}},
};

/// Noise in the pixels gives long scans.
byte_vector encoded(const picture& one, std::mt19937& random) {
  auto image = paint(one.height, one.width, one.channels);
  for (auto& value : image.values) value = static_cast<std::uint8_t>(value ^ random() % 32);
  return jpeg_bytes(image, one.style);
}

std::byte any_byte(std::mt19937& random) {
  return std::byte(random() % 4 == 0 ? 0xFF : random() % 256);
}

/// Damages a file after its header, often near its end.
void damage(byte_vector& file, std::size_t scan, std::mt19937& random) {
  const std::size_t end = file.size() - 2;
  std::size_t place = scan + random() % (end - scan);
  if (random() % 3 == 0) place = end - random() % std::min<std::size_t>(5000, end - scan);
  const auto at = file.begin() + static_cast<std::ptrdiff_t>(place);
  const std::size_t run = std::min<std::size_t>(end - place, 1 + random() % 12);
  switch (random() % 6) {
    case 0:
      *at ^= std::byte(1U << random() % 8);
      return;
    case 1:
      file.resize(place);
      return;
    case 2:
      file.erase(at, file.end() - 2);
      return;
    case 3:
      std::generate_n(at, run, [&] { return any_byte(random); });
      return;
    case 4:
      file.erase(at, at + static_cast<std::ptrdiff_t>(run));
      return;
    default:
      file.insert(at, run, any_byte(random));
  }
}

}  // namespace

TEST_CASE("jpeg scan segments: whole files are whole, and lanes are soon in step",
          "[dataset][host]") {
  std::mt19937 random{1};
  int decoded = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    CAPTURE(i);
    const jpeg_file file{encoded(pictures[i], random)};
    REQUIRE(file.is_read);
    const jpeg_scan_result found = check(file);
    CHECK(found.is_whole);
    CHECK(found.rounds < (i == 9 ? 32 : 12));  // segments of a short file have some bytes
    decoded += found.rounds > 0 ? 1 : 0;
  }
  CHECK(decoded == 9);  // a scan with restarts goes by intervals
}

TEST_CASE("jpeg scan segments: a file may begin at any address", "[dataset][host]") {
  std::mt19937 random{6};
  const byte_vector file = encoded(pictures[1], random);
  for (std::size_t shift = 0; shift < 16; ++shift) {
    CAPTURE(shift);
    const jpeg_scan_result found = check(jpeg_file{file, shift});
    CHECK(found.is_whole);
    CHECK(found.rounds > 0);
  }
}

TEST_CASE("jpeg scan segments: for damaged files lanes and one reader give the same verdict",
          "[dataset][host]") {
  constexpr int turns = test::sanitized ? 5 : 25;
  std::mt19937 random{2};
  int whole = 0;
  int broken = 0;
  for (const picture& one : pictures) {
    const byte_vector file = encoded(one, random);
    const jpeg_file original{file};
    REQUIRE(original.is_read);
    for (int turn = 0; turn < turns; ++turn) {
      byte_vector damaged = file;
      damage(damaged, original.frame.scan, random);
      const jpeg_file own{damaged};
      if (!own.is_read) continue;
      CAPTURE(one.height, one.width, turn);
      (check(own).is_whole ? whole : broken) += 1;
    }
  }
  CHECK(whole > turns);
  CHECK(broken > turns * 4);
}

TEST_CASE("jpeg scan segments: bytes before the end's marker get one reader's verdict",
          "[dataset][host]") {
  std::mt19937 random{3};
  int whole = 0;
  int broken = 0;
  for (const picture& one : {picture{100, 120, 3, {}}, picture{150, 120, 1, {.quality = 95}}}) {
    const byte_vector file = encoded(one, random);
    for (const int value : {0x00, 0x2A, 0xFF}) {
      for (std::size_t count = 0; count < 14; ++count) {
        byte_vector odd = file;
        odd.insert(odd.end() - 2, count, std::byte(value));
        for (const std::size_t behind : {std::size_t{0}, std::size_t{4000}}) {
          odd.resize(odd.size() + behind);
          CAPTURE(one.height, one.width, value, count, behind);
          (check(jpeg_file{odd}).is_whole ? whole : broken) += 1;
        }
      }
    }
    byte_vector filled = file;
    filled.insert(filled.end() - 2, {std::byte{0xFF}, std::byte{0xFF}, std::byte{0}});
    (check(jpeg_file{filled}).is_whole ? whole : broken) += 1;
  }
  CHECK(whole > 100);
  CHECK(broken > 5);
}

TEST_CASE("jpeg scan segments: data after fill bytes is decoded", "[dataset][host]") {
  // A byte 0xFF of the data, with which libjpeg takes any number of others before the zero. What it
  // takes for coefficients there, a test of pixels compares.
  std::mt19937 random{4};
  byte_vector file = encoded(pictures[1], random);
  const jpeg_file original{file};
  const auto found = std::adjacent_find(
      file.begin() + static_cast<std::ptrdiff_t>(original.frame.scan + original.bytes) / 2,
      file.end(),
      [](std::byte a, std::byte b) { return a == std::byte{0xFF} && b == std::byte{}; });
  REQUIRE(found < file.end() - 1);
  file.insert(found, 3, std::byte{0xFF});
  CHECK(check(jpeg_file{file}).is_whole);
}

TEST_CASE("jpeg scan segments: a scan that there is no room for is read by one",
          "[dataset][host]") {
  std::mt19937 random{5};
  const jpeg_file file{encoded(pictures[0], random)};
  const jpeg_scan_result one = read_jpeg_scan<0>(file);
  for (const std::size_t room : {std::size_t{0}, std::size_t{16}, std::size_t{file.bytes} / 2}) {
    const jpeg_scan_result found = read_jpeg_scan<32>(file, file.blocks(), room);
    CHECK(found.is_whole);
    CHECK(found.verdict == detail::jpeg_verdict::unsure);
    CHECK((found.blocks == one.blocks));
  }
}
