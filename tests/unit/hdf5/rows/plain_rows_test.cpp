#include "hdf5/rows/plain_rows.hpp"

#include "hdf5/library/file.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/rows/open_rows.hpp"
#include "io/local/file.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/records.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

// Most files are bytes as they would lie on a disk, read in either way whatever is in memory.

namespace {

/// A member of `element_bytes` at byte 3 of records.
hdf5_storage_layout member_of(std::size_t record_bytes, std::size_t element_bytes,
                              std::size_t swapped) {
  hdf5_storage_layout place;
  place.element_bytes = element_bytes;
  place.stored_bytes = record_bytes;
  place.stored_offset = 3;
  place.swapped_bytes = swapped;
  place.fill = various_bytes(element_bytes);
  return place;
}

/// Elements of words, in the other byte order if need be.
void append_element(std::vector<std::byte>& to, const std::byte* from,
                    const hdf5_storage_layout& place) {
  for (std::size_t i = 0; i < place.element_bytes; ++i) {
    const std::size_t word = i / place.swapped_bytes * place.swapped_bytes;
    to.push_back(from[word + (place.swapped_bytes - 1 - (i - word))]);
  }
}

std::vector<sample_index> every_sample(std::uint64_t count) {
  std::vector<sample_index> samples{{count - 1}, {0}};
  for (std::uint64_t i = 0; i < count; ++i) samples.push_back({i});
  return samples;
}

std::optional<std::uint64_t> lost_of(const field_rows& rows,
                                     const std::vector<sample_index>& samples,
                                     std::size_t row_bytes) {
  std::vector<std::byte> out(samples.size() * row_bytes);
  try {
    rows.read(samples, out.data());
  } catch (const hdf5_error& failure) {
    CHECK(std::string{failure.what()}.find("field 'x'") != std::string::npos);
    return failure.sample();
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("hdf5: rows of several records give one member of each, mapped and read",
          "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const std::size_t record_bytes = GENERATE(16U, 24U, 5000U);
  const std::size_t swapped = GENERATE(1U, 4U);
  const std::size_t elements = GENERATE(2U, 700U);
  constexpr std::uint64_t rows = 21;
  auto place = member_of(record_bytes, 12, swapped);
  place.stored = hdf5_storage_layout::layout::contiguous;
  place.offset = 7 + place.stored_offset;
  const temporary_directory folder;
  const auto bytes = various_bytes(7 + rows * elements * record_bytes);
  const auto path = folder.write("rows.bin", bytes);
  const hdf5_file_rows under_test{std::make_shared<const local_file>(path, how), "x", place,
                                  elements, rows};
  const auto samples = every_sample(rows);
  under_test.prefetch(samples);
  std::vector<std::byte> out(samples.size() * elements * 12);
  under_test.read(samples, out.data());
  std::vector<std::byte> expected;
  for (const sample_index sample : samples)
    for (std::size_t i = 0; i < elements; ++i)
      append_element(expected,
                     bytes.data() + place.offset + (sample.value * elements + i) * record_bytes,
                     place);
  CHECK(out == expected);

  if (how == file_access::mapped) return;
  std::filesystem::resize_file(path, place.offset + (5 * elements + 1) * record_bytes);
  CHECK(lost_of(under_test, {{2}, {4}, {5}, {6}}, elements * 12) == 5);
}

TEST_CASE("hdf5: rows of records that do not fit into their file are refused", "[dataset][host]") {
  const temporary_directory folder;
  const auto path = folder.write("rows.bin", various_bytes(10 + 4 * 6 * 16));
  const auto file = std::make_shared<const local_file>(path);
  auto place = member_of(16, 12, 1);
  place.stored = hdf5_storage_layout::layout::contiguous;
  const auto refusal = [&](std::uint64_t offset, std::size_t elements, std::uint64_t rows) {
    place.offset = offset;
    return message_of<hdf5_error>([&] {
      const hdf5_file_rows made{file, "x", place, elements, rows};
    });
  };
  constexpr auto huge = std::numeric_limits<std::uint64_t>::max();
  CHECK(refusal(14, 4, 6) == "[nothing was thrown]");
  CHECK(refusal(15, 4, 6) == path.string() +
                                 ": field 'x', byte 15: 6 rows of 48 bytes in 4 parts, 16 apart, "
                                 "would end at byte 395, but the file has 394; it was cut, or its "
                                 "header is wrong");
  for (const auto& message : {refusal(13, 5, 6), refusal(13, 4, 7), refusal(13, huge, 6),
                              refusal(13, 4, huge), refusal(huge, 4, 6)})
    CHECK(message.find("but the file has 394; it was cut") != std::string::npos);
}

TEST_CASE("hdf5: rows of chunks are read by runs, and the first that is lost is named",
          "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const std::size_t record_bytes = GENERATE(12U, 40U, 5000U);  // dense, apart, far apart
  const std::size_t swapped = GENERATE(1U, 2U);
  constexpr std::uint64_t rows = 95;
  constexpr std::uint64_t rows_per_chunk = 10;
  auto place = member_of(record_bytes, 12, swapped);
  if (record_bytes == 12) place.stored_offset = 0;
  place.stored = hdf5_storage_layout::layout::chunked;
  place.chunk = {rows_per_chunk};
  const std::size_t chunk_bytes = rows_per_chunk * record_bytes;
  hdf5_chunk_map map{{rows}, {rows_per_chunk}};
  const temporary_directory folder;
  const auto bytes = various_bytes(1 + map.size() * chunk_bytes);
  for (std::uint64_t chunk = 0; chunk < map.size(); ++chunk)  // from the last to the first
    if (chunk != 4)
      map[chunk] = {.address = 1 + (map.size() - 1 - chunk) * chunk_bytes,
                    .bytes = static_cast<std::uint32_t>(chunk_bytes)};
  const auto path = folder.write("rows.bin", bytes);
  const auto file = std::make_shared<const local_file>(path, how);
  REQUIRE(has_row_chunks(place, map.extents()));
  const hdf5_file_rows under_test{file, "x",  place,
                                  1,    rows, find_row_chunks(*file, "x", place, map)};
  const auto samples = every_sample(rows);
  under_test.prefetch(samples);
  std::vector<std::byte> out(samples.size() * 12);
  under_test.read(samples, out.data());
  std::vector<std::byte> expected;
  for (const sample_index sample : samples) {
    const auto& chunk = map[sample.value / rows_per_chunk];
    if (chunk.is_written())
      append_element(expected,
                     bytes.data() + chunk.address + place.stored_offset +
                         sample.value % rows_per_chunk * record_bytes,
                     place);
    else
      expected.insert(expected.end(), place.fill.begin(), place.fill.end());
  }
  CHECK(out == expected);

  if (how == file_access::mapped) return;
  // Chunk 0 lies last; the lost bytes begin just after its row 6.
  std::filesystem::resize_file(path, map[0].address + 6 * record_bytes + place.stored_offset + 12);
  CHECK(lost_of(under_test, {{90}, {3}, {4}, {5}, {6}, {7}, {8}}, 12) == 7);
}

TEST_CASE("hdf5: a chunk of records that is decoded for one member serves the other members",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "shared.h5"};
  const auto record = record_type(record_style::padded);
  constexpr std::uint64_t rows = 100;
  const auto values = various_bytes(rows * 3 * H5Tget_size(record.get()));
  const extent_vector extents = GENERATE(extent_vector{rows}, extent_vector{rows, 3});
  extent_vector chunk{16, 2};
  chunk.resize(extents.size());
  writer.write("x", record.get(), extents, record.get(), values.data(),
               chunked("", chunk, [](hid_t creation) { H5Pset_deflate(creation, 1); }));
  const auto path = writer.close();
  std::vector<std::vector<std::byte>> wanted;
  std::vector<std::unique_ptr<const field_rows>> fields;
  std::vector<hdf5_resolved_field> found;
  {
    const hdf5_session hdf5;
    const hdf5_file file{hdf5, path};
    hdf5_open_context common;
    for (const auto& member : record_members())
      found.push_back(find_field(hdf5, file, common, {"x/" + member.path()}));
  }
  for (auto& each : found) fields.push_back(open_rows(each, std::size_t{1} << 20));
  for (const auto& member : record_members()) wanted.push_back(rows_by_library(path, "x", member));
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i < rows; ++i) samples.push_back({i});
  const std::size_t first = GENERATE(0U, 4U);
  fields[(first + 1) % fields.size()].reset();  // one that is read no more
  std::vector<std::byte> out(wanted[first].size());
  fields[first]->read(samples, out.data());
  CHECK(out == wanted[first]);
  std::filesystem::resize_file(path, 0);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i]) continue;
    out.assign(wanted[i].size(), std::byte{0});
    fields[i]->read(samples, out.data());
    CHECK(out == wanted[i]);
  }
}
