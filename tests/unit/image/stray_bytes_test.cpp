/// JPEGs with bytes that belong to no marker, which cameras and programs write, and which are left
/// over where a scan's data is wrong.

#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/test_data.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/decoded_file.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

using namespace feedline;
using test::as_it_is;
using test::byte_vector;
using test::decode;
using test::find_marker;
using test::jpeg_bytes;
using test::paint;
using test::refusal;
using test::undecodable;

TEST_CASE("jpeg: stray bytes before a marker change no pixel, and are counted and reported",
          "[dataset][host]") {
  const auto style = GENERATE(test::jpeg_style{}, test::jpeg_style{.restart_interval = 3},
                              test::jpeg_style{.halves_chroma = false},
                              test::jpeg_style{.has_optimal_codes = true});
  const auto whole = jpeg_bytes(paint(64, 80), style);
  const auto expected = test::decode_jpeg(whole).values;
  auto options = as_it_is(64, 80);
  options.damaged_images = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t count = 0;
  for (const unsigned marker : {0xdbU, 0xc0U, 0xc4U, 0xdaU, 0xd9U})
    for (const byte_vector& stray :
         {byte_vector(2), byte_vector(9, std::byte{0x7f}), byte_vector(240),
          byte_vector{std::byte{1}, std::byte{0xff}, std::byte{0}, std::byte{3}}}) {
      CAPTURE(marker, stray.size());
      auto file = whole;
      const auto place = find_marker(file, marker);
      REQUIRE(place < file.size());
      file.insert(file.begin() + static_cast<std::ptrdiff_t>(place), stray.begin(), stray.end());
      const test::log_capture captured;
      CHECK(decode(file, options) == expected);
      // libjpeg may already have read a few bytes after the scan, and does not report them.
      const bool is_seen = test::decode_jpeg(file).warnings != 0;
      CHECK((is_seen || (marker == 0xd9 && stray.size() < 9)));
      count += is_seen ? 1 : 0;
      CHECK(*options.damaged_images == count);
      if (is_seen && count == 1)
        CHECK(captured.text().find("damaged JPEGs taken as libjpeg repairs them: 1; the last: "
                                   "Corrupt JPEG data: 2 extraneous bytes before marker 0xdb") !=
              std::string::npos);
    }
}

TEST_CASE("jpeg: data that is left over, because some before it is wrong, is not stray bytes",
          "[dataset][host]") {
  const auto whole = jpeg_bytes(paint(96, 128));
  auto options = as_it_is(96, 128);
  options.damaged_images = std::make_shared<std::atomic<std::uint64_t>>(0);
  const test::log_capture captured;
  const std::size_t begin = find_marker(whole, 0xda) + 14;
  const std::string before_end = " extraneous bytes before marker 0xd9";
  // The height is 16 rows less than there are data for.
  auto lower = whole;
  lower[find_marker(whole, 0xc0) + 6] = std::byte{80};
  CHECK(refusal(lower, as_it_is(80, 128)).find(before_end) != std::string::npos);
  // Bits change, and one of them makes the scan end early.
  std::uint64_t left_over = 0;
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    auto corrupted = whole;
    corrupted[begin + i * (whole.size() - 2 - begin) / 400] ^= std::byte(1U << i % 8);
    const std::uint64_t before = *options.damaged_images;
    try {
      (void)decode(corrupted, options);
      taken += *options.damaged_images - before;
    } catch (const dataset_error& error) {
      const std::string message = error.what();
      left_over += message.find(before_end) != std::string::npos ? 1 : 0;
    }
  }
  CHECK(left_over > 20);
  CHECK(taken < left_over / 10);  // the last few MCUs' data
}

TEST_CASE("jpeg: bytes after a progressive file's scan may be data, and are an error",
          "[dataset][host]") {
  auto file = jpeg_bytes(paint(64, 80), {.is_progressive = true});
  const auto options = as_it_is(64, 80);
  const auto expected = decode(file, options);
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(find_marker(file, 0xc4)), 3, std::byte{1});
  CHECK(decode(file, options) == expected);  // before its first scan
  file.insert(file.end() - 2, 30, std::byte{0});
  const std::string message = refusal(file, options);
  CHECK(message.find("extraneous bytes before marker 0xd9") != std::string::npos);
}

TEST_CASE("jpeg: foreign files with stray bytes give the clean file's pixels, and a cut one none",
          "[dataset][host]") {
  const auto root = test::find_test_data("found/second/extraneous-bytes/root/a");
  if (!root) FEEDLINE_SKIP("no foreign files: name their folder's parent in FEEDLINE_TEST_DATA");
  const auto options = as_it_is(64, 64);
  const auto good = decode(test::bytes_of_file(*root / "good.jpg"), options);
  for (const char* const name : {"before_dqt.jpg", "before_dht.jpg", "before_eoi.jpg"})
    CHECK(decode(test::bytes_of_file(*root / name), options) == good);
  CHECK(refusal(test::bytes_of_file(*root / "no_eoi.jpg"), options) ==
        undecodable + "libjpeg says: Premature end of JPEG file");
}
