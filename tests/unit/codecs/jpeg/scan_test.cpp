/// Whether JPEG files are whole: the check that devices run, by one reader and by lanes, against
/// libjpeg, on files most of which are damaged. Files lie in memory of their own, so that
/// sanitizers see what is read beside them.

#include "codecs/jpeg/scan.hpp"

#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/ragged/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/sanitized.hpp"
#include "support/images/image_bytes.hpp"
#include "support/images/jpeg_scans.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <string>

using namespace feedline;
using test::byte_vector;
using test::jpeg_bytes;
using test::jpeg_file;
using test::jpeg_style;
using test::paint;
using test::read_jpeg_scan;

namespace {

detail::jpeg_frame frame_of(const byte_vector& file) {
  detail::jpeg_frame frame;
  REQUIRE(detail::read_jpeg_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                  frame));
  return frame;
}

/// Verdict of lanes, which must agree with that of one reader.
/// @return Nothing if the header is refused, or tells of another size.
std::optional<bool> is_whole(const byte_vector& file, const detail::jpeg_frame& original) {
  const jpeg_file own{file};
  if (!own.is_read) return {};
  if (own.frame.height != original.height || own.frame.width != original.width) return {};
  const bool by_one = read_jpeg_scan<0>(own).is_whole;
  CHECK(read_jpeg_scan<5>(own).is_whole == by_one);
  return by_one;
}

bool is_whole(const byte_vector& file) {
  return is_whole(file, frame_of(file)).value();
}

bool is_taken_by_libjpeg(const byte_vector& file, const detail::jpeg_frame& frame) try {
  const decoder_ptr decoder =
      make_image_decoder({.height = frame.height, .width = frame.width, .allow_damaged = false});
  const field spec = decoder->describe(file);
  std::vector<std::byte> out(sample_bytes(spec));
  decoder->decode(file, spec, out, {});
  return true;
} catch (const dataset_error&) {
  return false;
}

struct picture {
  const char* name;
  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t channels;
  jpeg_style style;
};

const std::vector<picture> pictures{
    {"usual", 120, 150, 3, {}},
    {"large, and libjpeg's fast way", 240, 320, 3, {.quality = 95}},
    {"4:4:4", 61, 83, 3, {.luma_across = 1, .luma_down = 1}},
    {"4:2:2", 80, 67, 3, {.luma_across = 2, .luma_down = 1}},
    {"4:4:0", 50, 90, 3, {.luma_across = 1, .luma_down = 2}},
    {"grey", 130, 99, 1, {}},
    {"restarts", 97, 101, 3, {.restart_interval = 3}},
    {"a restart behind each", 40, 41, 3, {.luma_across = 1, .luma_down = 1, .restart_interval = 1}},
    {"own codes", 110, 130, 3, {.has_optimal_codes = true}},
    {"grey, own codes, restarts", 70, 90, 1, {.restart_interval = 7, .has_optimal_codes = true}},
    {"tiny", 1, 1, 3, {}},
    {"many bits", 64, 64, 3, {.quality = 100}},
    {"few bits", 200, 210, 3, {.quality = 5}},
};

byte_vector encoded(const picture& one) {
  return jpeg_bytes(paint(one.height, one.width, one.channels), one.style);
}

std::size_t below(std::mt19937& random, std::size_t end) {
  return end == 0 ? 0 : random() % end;
}

void insert(byte_vector& file, std::size_t place, const byte_vector& what) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(place), what.begin(), what.end());
}

byte_vector bytes_of(std::initializer_list<unsigned> values) {
  byte_vector all;
  for (const unsigned value : values) all.push_back(std::byte(value));
  return all;
}

byte_vector noise(std::mt19937& random, std::size_t count) {
  byte_vector all(count);
  for (std::byte& each : all) each = std::byte(random() % 256);
  return all;
}

/// Positions at which the scan's restart markers begin.
std::vector<std::size_t> restarts(const byte_vector& file, std::size_t scan) {
  std::vector<std::size_t> places;
  for (std::size_t i = scan; i + 1 < file.size(); ++i)
    if (file[i] == std::byte{0xFF} && (file[i + 1] & std::byte{0xF8}) == std::byte{0xD0})
      places.push_back(i);
  return places;
}

/// Bytes before a marker: superfluous bits, or markers that have no meaning there.
byte_vector odd_bytes(std::mt19937& random) {
  switch (random() % 9) {
    case 0:
      return noise(random, 1 + random() % 9);
    case 1:
      return byte_vector(1 + random() % 9);
    case 2:
      return byte_vector(1 + random() % 3, std::byte{0xFF});
    case 3:
      return bytes_of({0xFF, 0xFE, 0, 5, 1, 2, 3});
    case 4:
      return bytes_of({0xFF, 0xD0 + static_cast<unsigned>(random() % 8)});
    case 5:
      return bytes_of({0xFF, 0x01, 0xFF, 0xDC, 0, 4, 0, 9});
    case 6:
      return bytes_of({0xFF, 0xDD, 0, 4 + static_cast<unsigned>(random() % 2), 0, 0, 0});
    case 7:
      return bytes_of({0xFF, 0xE0 + static_cast<unsigned>(random() % 17), 0,
                       static_cast<unsigned>(random() % 4)});
    default:
      return bytes_of({0xFF, static_cast<unsigned>(random() % 256)});
  }
}

/// Damages a file in one of many ways, some of which do no harm.
void damage(byte_vector& file, std::size_t scan, std::mt19937& random) {
  const std::size_t end = file.size() - 2;  // the marker of the image's end
  const std::size_t from = random() % 8 == 0 ? 0 : scan;
  std::size_t place = from + below(random, end - from);
  if (random() % 4 == 0) place = end - std::min<std::size_t>(end - scan, random() % 12);
  const auto at = file.begin() + static_cast<std::ptrdiff_t>(place);
  const std::size_t run = std::min<std::size_t>(file.size() - place, 1 + random() % 12);
  const auto marks = restarts(file, scan);
  switch (random() % 12) {
    case 0:
    case 1:
      file[place] ^= std::byte(1U << random() % 8);
      return;
    case 2:
      file.resize(place);
      return;
    case 3:
      file.resize(place);
      insert(file, place, bytes_of({0xFF, 0xD9}));
      return;
    case 4:
      std::ranges::copy(noise(random, run), at);
      return;
    case 5:
      std::fill_n(at, run, random() % 2 == 0 ? std::byte{0} : std::byte{0xFF});
      return;
    case 6:  // long rows of ones, which no code is
      for (std::size_t i = 0; i < run; ++i) file[place + i] = std::byte(i % 2 == 0 ? 0xFF : 0);
      return;
    case 7:
      file.erase(at, at + static_cast<std::ptrdiff_t>(run));
      return;
    case 8:
      insert(file, end, odd_bytes(random));
      return;
    case 9:
      if (marks.empty()) return insert(file, place, noise(random, run));
      file[marks[random() % marks.size()] + 1] = std::byte(0xD0 + random() % 8);
      return;
    case 10:
      if (marks.empty()) return insert(file, place, odd_bytes(random));
      place = marks[random() % marks.size()];
      file.erase(file.begin() + static_cast<std::ptrdiff_t>(place),
                 file.begin() + static_cast<std::ptrdiff_t>(place) + 2);
      return;
    default:
      insert(file, marks.empty() ? place : marks[random() % marks.size()], odd_bytes(random));
  }
}

}  // namespace

TEST_CASE("jpeg scan: files as libjpeg writes them are whole, of all samplings and sizes",
          "[dataset][host]") {
  for (const picture& one : pictures) {
    INFO(one.name);
    CHECK(is_whole(encoded(one)));
  }
  for (std::uint32_t size = 1; size < 40; size += 3)
    for (const unsigned interval : {0U, 1U, 2U, 9U})
      CHECK(is_whole(jpeg_bytes(paint(size, 41 - size), {.restart_interval = interval})));
}

TEST_CASE("jpeg scan: a file that is cut is not whole, wherever that is", "[dataset][host]") {
  for (const unsigned interval : {0U, 2U}) {
    const auto file = jpeg_bytes(paint(30, 40), {.restart_interval = interval});
    const auto frame = frame_of(file);
    for (std::size_t bytes = frame.scan; bytes < file.size(); ++bytes) {
      INFO(interval << ", " << bytes);
      CHECK(is_whole({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes)}, frame) ==
            false);
    }
  }
}

TEST_CASE("jpeg scan: bytes after the image's end are ignored", "[dataset][host]") {
  auto file = jpeg_bytes(paint(60, 70));
  file.resize(file.size() + 9000, std::byte{0xA5});
  CHECK(is_whole(file));
}

TEST_CASE("jpeg scan: stray bytes before the image's end do not matter, but data that is left does",
          "[dataset][host]") {
  const test::log_capture captured;
  for (const picture& one : pictures) {
    INFO(one.name);
    const auto file = encoded(one);
    const auto frame = frame_of(file);
    for (const std::size_t count : {1U, 7U, 30U, 240U})
      for (const unsigned value : {0x00U, 0x7FU, 0xFFU}) {
        INFO(count << " bytes " << value);
        auto odd = file;
        byte_vector stray(count, std::byte(value));
        stray.back() = std::byte{0};  // after ones, as data has it
        insert(odd, odd.size() - 2, stray);
        CHECK(is_whole(odd));
        CHECK(is_taken_by_libjpeg(odd, frame));
        insert(odd, odd.size() - 2, bytes_of({0xFF, 0xD3}));
        CHECK(is_whole(odd) == is_taken_by_libjpeg(odd, frame));
      }
  }
  // A lower image: rows of MCUs are left over.
  auto lower = encoded(pictures[0]);
  const byte_vector frame_marker = bytes_of({0xFF, 0xC0});
  const auto sof = static_cast<std::size_t>(
      std::search(lower.begin(), lower.end(), frame_marker.begin(), frame_marker.end()) -
      lower.begin());
  REQUIRE(lower[sof + 6] == std::byte{120});
  lower[sof + 6] = std::byte{100};
  CHECK_FALSE(is_whole(lower));
  CHECK_FALSE(is_taken_by_libjpeg(lower, frame_of(lower)));
}

TEST_CASE("jpeg scan: a code that means nothing is damage near the file's end, where libjpeg looks",
          "[dataset][host]") {
  constexpr std::uint32_t mcus = 60;
  auto file = jpeg_bytes(paint(8, 8 * mcus, 1));
  const auto frame = frame_of(file);
  file.resize(frame.scan);
  // Ones, which are not a code, instead of the first DC code; then, for the other blocks and after
  // them, the standard's codes of "no bits" and "end of block".
  std::string bits(17, '1');
  bits += "1010";
  for (std::uint32_t i = 1; i < mcus; ++i) bits += "001010";
  while (bits.size() % 8 != 0) bits += '1';
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    file.push_back(std::byte(std::stoul(bits.substr(i, 8), nullptr, 2)));
    if (file.back() == std::byte{0xFF}) file.push_back(std::byte{0});
  }
  insert(file, file.size(), bytes_of({0xFF, 0xD9}));
  CHECK_FALSE(is_whole(file));
  CHECK_FALSE(is_taken_by_libjpeg(file, frame));
  file.resize(file.size() + 600);
  CHECK(is_whole(file));
  CHECK(is_taken_by_libjpeg(file, frame));
}

TEST_CASE("jpeg scan: its verdict on any damage is libjpeg's", "[dataset][host]") {
  constexpr std::size_t rounds = test::sanitized ? 140 : 700;
  const test::log_capture captured;  // captures warnings of stray bytes
  std::size_t refused = 0;
  std::size_t taken = 0;
  for (const picture& one : pictures) {
    const byte_vector file = encoded(one);
    const detail::jpeg_frame frame = frame_of(file);
    std::mt19937 random{11};
    for (std::size_t round = 0; round < rounds; ++round) {
      byte_vector damaged = file;
      damage(damaged, frame.scan, random);
      // Enough bytes after it for libjpeg's fast path to continue to the end.
      if (random() % 3 == 0) damaged.resize(damaged.size() + 4000);
      const std::optional<bool> whole = is_whole(damaged, frame);
      if (!whole) continue;
      const bool is_taken = is_taken_by_libjpeg(damaged, frame);
      ++(is_taken ? taken : refused);
      INFO(one.name << ", round " << round);
      CHECK(*whole == is_taken);
    }
  }
  CHECK(refused > rounds * 30 / 7);
  CHECK(taken > rounds * 10 / 7);
}
