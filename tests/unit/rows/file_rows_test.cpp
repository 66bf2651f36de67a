#include "rows/file_rows.hpp"

#include "io/local/file.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

using test::numbered;

/// Expected content of a row, computed byte by byte.
std::vector<std::byte> expected_row(const std::vector<std::byte>& file, const row_place& place,
                                    std::uint64_t row) {
  std::vector<std::byte> bytes(place.row_bytes);
  for (std::size_t i = 0; i < place.row_bytes; ++i) {
    const std::size_t within = i % place.swapped_bytes;
    const std::size_t from = i - within + (place.swapped_bytes - 1 - within);
    bytes[i] = file[place.offset + row * place.stride + from];
  }
  return bytes;
}

std::vector<sample_index> samples_of(std::initializer_list<std::uint64_t> numbers) {
  std::vector<sample_index> samples;
  for (const std::uint64_t number : numbers) samples.push_back(sample_index{number});
  return samples;
}

}  // namespace

TEST_CASE("file rows: rows at any distance, of any element order, mapped and read, are the file's",
          "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const std::size_t swapped = GENERATE(1U, 2U, 4U, 8U);
  // 1, 2, 4, 8 have loops of their own; 4096 is the longest row that is prefetched.
  const std::size_t row_bytes = GENERATE(1U, 2U, 4U, 8U, 24U, 63U, 784U, 4096U, 4104U);
  if (row_bytes % swapped != 0) return;
  // Dense, apart, and overlapping by half.
  const std::uint64_t stride =
      GENERATE_COPY(std::uint64_t{row_bytes}, std::uint64_t{row_bytes + 13},
                    std::max<std::uint64_t>(1, row_bytes / 2));
  const row_place place{
      .offset = 3, .stride = stride, .row_bytes = row_bytes, .swapped_bytes = swapped};
  CAPTURE(row_bytes, stride, swapped);
  constexpr std::uint64_t rows = 20;
  const auto bytes = numbered(3 + (rows - 1) * stride + row_bytes);
  const test::temporary_directory folder;
  const auto file = std::make_shared<const local_file>(folder.write("rows.bin", bytes), how);
  const file_rows under_test{file, "x", place, rows};
  CHECK(under_test.size() == rows);

  const auto samples = samples_of({7, 8, 9, 10, 0, 19, 19, 18, 3, 5, 4, 12, 13});
  std::vector<std::byte> out(samples.size() * row_bytes);
  under_test.read(samples, out.data());
  std::vector<std::byte> expected;
  for (const sample_index sample : samples) {
    const auto row = expected_row(bytes, place, sample.value);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  CHECK(out == expected);
  under_test.read({}, nullptr);
}

TEST_CASE(
    "file rows: rows of blocks that lie anywhere are the file's, and of blocks never written "
    "the fill value",
    "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const std::size_t swapped = GENERATE(1U, 4U);
  const std::size_t parts = GENERATE(1U, 3U);
  const std::size_t part_bytes = GENERATE(8U, 2400U);
  const std::uint64_t gap = GENERATE(0U, 5U, 5000U);
  const row_place place{.offset = 2,
                        .stride = part_bytes + gap,
                        .row_bytes = parts * part_bytes,
                        .swapped_bytes = swapped,
                        .parts = parts};
  CAPTURE(swapped, parts, part_bytes, gap);
  constexpr std::uint64_t rows_per_block = 4;
  const std::uint64_t block_bytes = rows_per_block * parts * place.stride;
  const std::vector<std::uint64_t> begins{1 + 2 * block_bytes, row_blocks::nowhere, 1,
                                          1 + block_bytes};
  const auto bytes = numbered(3 + 3 * block_bytes);
  const auto fill = numbered(4);
  const test::temporary_directory folder;
  const auto file = std::make_shared<const local_file>(folder.write("rows.bin", bytes), how);
  const file_rows under_test{
      file, "x", place, 15, {std::make_shared<const std::vector<std::uint64_t>>(begins), 4, fill}};

  // Runs that cross blocks, both ways, more samples than are looked up at a time.
  auto samples = samples_of({7, 8, 9, 10, 11, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 14, 13, 3, 3});
  while (samples.size() < 300) samples.push_back({samples.size() * 7 % 15});
  std::vector<std::byte> out(samples.size() * place.row_bytes);
  under_test.read(samples, out.data());
  std::vector<std::byte> expected;
  for (const sample_index sample : samples) {
    const std::uint64_t begin = begins[sample.value / rows_per_block];
    for (std::size_t part = 0; part < parts; ++part) {
      std::vector<std::byte> values;
      for (std::size_t i = 0; i < part_bytes; ++i) values.push_back(fill[i % fill.size()]);
      if (begin != row_blocks::nowhere)
        values = expected_row(bytes,
                              {.offset = begin + place.offset,
                               .stride = place.stride,
                               .row_bytes = part_bytes,
                               .swapped_bytes = swapped},
                              sample.value % rows_per_block * parts + part);
      expected.insert(expected.end(), values.begin(), values.end());
    }
  }
  CHECK(out == expected);
  under_test.prefetch(samples);
}

TEST_CASE("file rows: rows that do not fit into their file are refused, with the reason",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(100));
  const auto file = std::make_shared<const local_file>(path);
  const auto refusal = [&](row_place place, std::uint64_t rows) {
    return test::message_of<dataset_error>([&] { const file_rows made{file, "x", place, rows}; });
  };
  const std::string at = path.string() + ": field 'x', byte ";
  const std::string advice = ", but the file has 100; it was cut, or its header is wrong";
  constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

  CHECK(refusal({.offset = 4, .stride = 12, .row_bytes = 12}, 8) == "[nothing was thrown]");
  CHECK(refusal({.offset = 5, .stride = 12, .row_bytes = 12}, 8) ==
        at + "5: 8 rows of 12 bytes, 12 apart, would end at byte 101" + advice);
  CHECK(refusal({.offset = 100, .stride = 12, .row_bytes = 12}, 0) == "[nothing was thrown]");
  CHECK(refusal({.offset = 101, .stride = 12, .row_bytes = 12}, 0) ==
        at + "101: 0 rows of 12 bytes, 12 apart, would end at byte 101" + advice);
  const std::string overflow = " apart, would end at a byte beyond 64 bits" + advice;
  CHECK(refusal({.offset = 0, .stride = huge / 2, .row_bytes = 12}, 4) ==
        at + "0: 4 rows of 12 bytes, 9223372036854775807" + overflow);
  CHECK(refusal({.offset = huge, .stride = 1, .row_bytes = 12}, 2) ==
        at + "18446744073709551615: 2 rows of 12 bytes, 1" + overflow);
  CHECK(refusal({.offset = huge - 4, .stride = 1, .row_bytes = 12}, 1) ==
        at + "18446744073709551611: 1 rows of 12 bytes, 1" + overflow);
}

TEST_CASE("file rows: a read that fails names field, sample and byte", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(1000));
  const auto file = std::make_shared<const local_file>(path, file_access::by_calls);
  const file_rows rows{file, "x", {.offset = 10, .stride = 10, .row_bytes = 10}, 99};
  std::filesystem::resize_file(path, 505);
  std::vector<std::byte> out(990);
  const auto failure = [&](std::initializer_list<std::uint64_t> samples) {
    return test::message_of<dataset_error>([&] { rows.read(samples_of(samples), out.data()); });
  };
  const std::string words =
      ": ends here; it was cut since it was opened, when it had 1000 bytes; open it again";
  CHECK(failure({3, 48, 9}) == "[nothing was thrown]");
  CHECK(failure({3, 49, 9}) == path.string() + ": field 'x', sample 49, byte 505" + words);
  CHECK(failure({47, 48, 49, 50}) == path.string() + ": field 'x', sample 49, byte 505" + words);
}

TEST_CASE(
    "file rows: all rows of long runs that lie apart are read, or the first lost row is named",
    "[dataset][host]") {
  const row_place place{.offset = 10, .stride = 100, .row_bytes = 4, .swapped_bytes = 2};
  constexpr std::uint64_t count = 10'000;
  const auto bytes = numbered(10 + 100 * count);
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", bytes);
  const file_rows rows{std::make_shared<const local_file>(path, file_access::by_calls), "x", place,
                       count};
  std::vector<sample_index> samples;
  std::vector<std::byte> expected;
  for (std::uint64_t i = 0; i < count; ++i) {
    samples.push_back({i});
    const auto row = expected_row(bytes, place, i);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  std::vector<std::byte> out(4 * count);
  rows.read(samples, out.data());
  CHECK(out == expected);

  const auto lost_at = [&](std::uint64_t end) {
    std::filesystem::resize_file(path, end);
    try {
      rows.read(samples, out.data());
    } catch (const dataset_error& failure) {
      return failure.sample().value_or(count);
    }
    return count;
  };
  CHECK(lost_at(10 + 100 * 5000 + 4) == 5001);  // just after a row
  CHECK(lost_at(10 + 100 * 5000 + 3) == 5000);
}

TEST_CASE("file rows: a hint of any samples changes nothing", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto bytes = numbered(1 << 20);
  const auto file =
      std::make_shared<const local_file>(folder.write("rows.bin", bytes), file_access::by_calls);
  const file_rows rows{file, "x", {.offset = 0, .stride = 1024, .row_bytes = 1024}, 1024};
  rows.prefetch({});
  rows.prefetch(samples_of({5, 5, 0, 1023, 700, 4, std::numeric_limits<std::uint64_t>::max()}));
  std::vector<std::byte> out(1024);
  rows.read(samples_of({700}), out.data());
  CHECK(out == std::vector<std::byte>(bytes.begin() + 700 * 1024, bytes.begin() + 701 * 1024));
}
