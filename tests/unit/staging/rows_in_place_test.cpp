// Tests which rows of an array a device reads in place, and which are copied.

#include "staging/rows_in_place.hpp"

#include "staging/device_row_cache.hpp"
#include "staging/slot_layout.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::scripted_device;

namespace {

constexpr std::uintptr_t page = 4096;

/// Memory that is not read, this many bytes after the begin of a page.
std::span<const std::byte> memory(std::uintptr_t in_page, std::size_t bytes) {
  return {reinterpret_cast<const std::byte*>(16 * page + in_page), bytes};  // NOLINT
}

std::uintptr_t address(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at);
}

/// An array within a block of memory, beside bytes of others.
struct array {
  std::vector<std::byte> block;
  std::size_t begin;
  std::size_t size;

  array(std::size_t in_page, std::size_t bytes) : block(bytes + 3 * page), size{bytes} {
    begin = (page - address(block.data()) % page) % page + in_page;
    for (std::size_t i = 0; i < size; ++i)
      block[begin + i] = static_cast<std::byte>((i * 0x9e3779b97f4a7c15U) >> 56);
  }
  std::span<std::byte> bytes() { return std::span{block}.subspan(begin, size); }
};

}  // namespace

TEST_CASE("rows in place: they are all rows of an array that lie on its own pages alone",
          "[device][host]") {
  std::mt19937_64 random{7};
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t granularity = i % 3 == 0 ? 65'536 : page;
    const std::uint64_t samples = 1 + random() % 5'000;
    const std::size_t row_bytes = 1 + random() % (i % 2 == 0 ? 100 : 9'000);
    const auto rows = memory(random() % granularity, samples * row_bytes);
    const auto lie = find_rows_in_place(rows, samples, granularity);
    if (lie.count == 0) {
      // Too small, or no row is on such pages: a run of rows beside the shared pages is short.
      REQUIRE((rows.size() < 6 * granularity ||
               rows.size() < 2 * (granularity + row_bytes) + row_bytes));
      continue;
    }
    const std::uintptr_t begin = address(rows.data());
    const std::uintptr_t first_page = address(lie.pages.data());
    const std::uintptr_t end_page = first_page + lie.pages.size();
    REQUIRE(first_page % granularity == 0);
    REQUIRE(end_page % granularity == 0);
    REQUIRE(first_page >= begin);
    REQUIRE(end_page <= begin + rows.size());
    REQUIRE(lie.first + lie.count <= samples);
    REQUIRE(begin + lie.first * row_bytes >= first_page);
    REQUIRE(begin + (lie.first + lie.count) * row_bytes <= end_page);
    // One row more at either side would touch another page.
    if (lie.first != 0) REQUIRE(begin + (lie.first - 1) * row_bytes < first_page);
    if (lie.first + lie.count != samples)
      REQUIRE(begin + (lie.first + lie.count + 1) * row_bytes > end_page);
  }
}

TEST_CASE("rows in place: a device that maps memory anywhere reads all of them there",
          "[device][host]") {
  const auto lie = find_rows_in_place(memory(77, 300), 3, 1);
  CHECK(lie.first == 0);
  CHECK(lie.count == 3);
  CHECK(lie.pages.size() == 300);
  CHECK(find_rows_in_place({}, 0, 1).count == 0);
}

TEST_CASE("rows in place: rows at the edges and arrays of few pages are copied", "[device][host]") {
  // Whole pages: nothing is copied.
  CHECK(find_rows_in_place(memory(0, 8 * page), 8, page).count == 8);
  // A row a page, shifted: the first and the last touch pages of others.
  auto lie = find_rows_in_place(memory(16, 8 * page), 8, page);
  CHECK(lie.first == 1);
  CHECK(lie.count == 6);
  // Rows of 1,000 bytes from byte 96 on: 4 reach beyond the first page, 4,000 of its bytes.
  lie = find_rows_in_place(memory(96, 100'000), 100, page);
  CHECK(lie.first == 4);
  CHECK(lie.pages.size() == 23 * page);
  CHECK(lie.count == (96 + 100'000) / page * page / 1'000 - 4);
  CHECK(find_rows_in_place(memory(16, 4 * page), 64, page).count == 0);
  CHECK(find_rows_in_place(memory(0, 4 * page), 64, page).count == 64);
  // Two rows that meet within the array's own pages: each touches a shared one.
  CHECK(find_rows_in_place(memory(16, 20 * page), 2, page).count == 0);
}

TEST_CASE("cached rows: the edges of an array that shares pages are copied, and the rest is mapped",
          "[device][host]") {
  const std::size_t row_bytes = GENERATE(1U, 37U, 784U, 4096U, 9'000U);
  const std::size_t in_page = GENERATE(0U, 16U, 1'000U, 4'095U);
  const std::uint64_t samples = 300'000 / row_bytes + 5;
  CAPTURE(row_bytes, in_page);
  array rows{in_page, samples * row_bytes};
  const std::vector<std::byte> before{rows.bytes().begin(), rows.bytes().end()};
  const auto device = std::make_shared<scripted_device>();
  device->map_pages_of(page);
  const std::vector<std::span<const std::byte>> fields{rows.bytes()};
  {
    const device_row_cache cache{device, fields, samples};
    CHECK(device->mappings() == 1);
    CHECK(cache.on_host(0));
    const auto in_place = cache.in_place(0);
    CHECK(in_place.count != 0);
    CHECK(device->allocated_bytes(memory_kind::device) ==
          device_row_cache::copied_bytes(fields, samples, page));
    CHECK(device_row_cache::copied_bytes(fields, samples, page) ==
          round_up((samples - in_place.count) * row_bytes, slot_layout::alignment));
    field_assembly field;
    field.cached = cache.field(0);
    field.in_place = in_place;
    field.row_bytes = row_bytes;
    std::ranges::fill(rows.bytes(), std::byte{0});  // rows read from now on were copied
    for (std::uint32_t row = 0; row < samples; ++row) {
      const std::byte* const at = field.cached_row(row);
      const auto expected = before.begin() + static_cast<std::ptrdiff_t>(row * row_bytes);
      if (row - in_place.first < in_place.count)
        REQUIRE(at == rows.bytes().data() + row * row_bytes);
      else
        REQUIRE(std::equal(at, at + row_bytes, expected));
    }
  }
  CHECK(device->mappings() == 0);
  CHECK(device->allocated_bytes(memory_kind::device) == 0);
}

TEST_CASE("cached rows: an array of a few pages that shares them is copied whole",
          "[device][host]") {
  array rows{64, 20'000};  // three whole pages
  const auto device = std::make_shared<scripted_device>();
  device->map_pages_of(page);
  const device_row_cache cache{device, {rows.bytes()}, 5};
  CHECK(device->mappings() == 0);
  CHECK_FALSE(cache.on_host(0));
  CHECK(std::equal(rows.bytes().begin(), rows.bytes().end(), cache.field(0)));
}
