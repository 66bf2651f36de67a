/// Scans that the lanes of a warp check together, against one reader: files of several sizes and
/// samplings, most of them damaged. Files lie in memory of their own, so that sanitizers see what
/// is read beside them.

#include "image/jpeg/scan_segments.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/host_warp.hpp"
#include "support/files/image_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

using namespace feedline;
using test::byte_vector;
using test::jpeg_bytes;
using test::jpeg_style;
using test::paint;

namespace {

struct verdicts {
  bool is_read = false;  ///< the header is taken
  bool by_one = false;
  bool by_lanes = false;
  int rounds = 0;
};

verdicts check(const byte_vector& file) {
  verdicts found;
  const auto own = std::make_unique<std::uint8_t[]>(file.size());
  std::memcpy(own.get(), file.data(), file.size());
  detail::jpeg_frame frame;
  found.is_read = detail::read_jpeg_frame(own.get(), file.size(), frame);
  if (!found.is_read) return found;
  detail::jpeg_scan_tables tables;
  std::memset(&tables, 0xCD, sizeof(tables));
  const detail::jpeg_scan scan{own.get(), static_cast<std::uint32_t>(file.size()), frame, tables};
  found.by_one = detail::is_whole_jpeg_scan(scan);
  std::memset(&tables, 0xCD, sizeof(tables));
  test::host_warp<> warp;
  found.by_lanes = detail::jpeg_scan_segments{warp, scan}.is_whole();
  found.rounds = warp.rounds;
  return found;
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

/// Damages a file behind its header, often near its end.
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
    const verdicts found = check(encoded(pictures[i], random));
    CHECK(found.is_read);
    CHECK(found.by_one);
    CHECK(found.by_lanes);
    CHECK(found.rounds < 8);
    decoded += found.rounds > 0 ? 1 : 0;
  }
  CHECK(decoded == 8);  // a scan with restarts and a short one are read by one lane
}

TEST_CASE("jpeg scan segments: of damaged files lanes say what one reader says",
          "[dataset][host]") {
  std::mt19937 random{2};
  int whole = 0;
  int broken = 0;
  for (const picture& one : pictures) {
    const byte_vector file = encoded(one, random);
    detail::jpeg_frame frame;
    REQUIRE(detail::read_jpeg_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                    frame));
    for (int turn = 0; turn < 100; ++turn) {
      byte_vector damaged = file;
      damage(damaged, frame.scan, random);
      const verdicts found = check(damaged);
      CAPTURE(one.height, one.width, turn);
      CHECK(found.by_lanes == found.by_one);
      (found.by_one ? whole : broken) += 1;
    }
  }
  CHECK(whole > 100);
  CHECK(broken > 400);
}
