#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// With so little memory, chunks that split rows are kept one by one.
const hdf5_options least_memory{.max_host_cache_bytes = 1, .max_resident_bytes = 0};

void gzip(hid_t creation) {
  H5Pset_deflate(creation, 1);
}

/// Memory that this program has resident now, in whole pages.
std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * 4096;
}

std::vector<std::byte> read_rows(const dataset& data, const std::vector<sample_index>& samples,
                                 std::size_t row_bytes) {
  std::vector<std::byte> out(samples.size() * row_bytes);
  data.read(samples, std::vector{std::span{out}});
  return out;
}

}  // namespace

TEST_CASE("hdf5: random rows of a huge array in tiles take only the memory of their written tiles",
          "[dataset][host]") {
  constexpr std::uint64_t extent = std::uint64_t{1} << 20;
  constexpr std::uint64_t tile = 1024;
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "huge.h5"};
  {
    const auto huge =
        writer.make("x", H5T_STD_U8LE, {extent, extent}, chunked("", {tile, tile}, [](hid_t made) {
                      gzip(made);
                      const std::uint8_t fill = 9;
                      H5Pset_fill_value(made, H5T_NATIVE_UINT8, &fill);
                    }));
    // One tile in the middle: row r, column c of it is (r + c) modulo 251.
    const extent_vector at{100 * tile, 700 * tile};
    const extent_vector count{tile, tile};
    const detail::hdf5_space_id space{H5Dget_space(huge.get())};
    const detail::hdf5_space_id memory{H5Screate_simple(2, count.data(), nullptr)};
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, at.data(), nullptr, count.data(), nullptr);
    std::vector<std::uint8_t> values;
    for (std::uint64_t i = 0; i < tile * tile; ++i)
      values.push_back(static_cast<std::uint8_t>((i / tile + i % tile) % 251));
    require_hdf5(H5Dwrite(huge.get(), H5T_NATIVE_UINT8, memory.get(), space.get(), H5P_DEFAULT,
                          values.data()) >= 0,
                 "write a tile");
  }
  const auto data =
      open_hdf5(writer.close(), {{"x"}}, {.max_host_cache_bytes = std::size_t{4} << 30});
  CHECK(data->chunks().samples == tile);
  const std::size_t before = resident_bytes();
  std::mt19937_64 random{5};
  std::vector<std::byte> row(extent);
  for (int i = 0; i < 30; ++i) {
    const std::uint64_t sample = i % 10 == 0 ? 100 * tile + random() % tile : random() % extent;
    data->read(std::vector{sample_index{sample}}, std::vector{std::span{row}});
    const bool is_written = sample / tile == 100;
    std::uint64_t wrong = 0;
    for (std::uint64_t column = 0; column < extent; ++column) {
      const std::uint64_t written = (sample % tile + column % tile) % 251;
      const std::uint64_t expected = is_written && column / tile == 700 ? written : 9;
      wrong += row[column] != static_cast<std::byte>(expected);
    }
    CHECK(wrong == 0);
  }
  CHECK(resident_bytes() < before + (std::size_t{64} << 20));
}

TEST_CASE("hdf5: rows read tile by tile are those of the dataset, at its edges and unwritten too",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "tiles.h5"};
  constexpr std::size_t rows = 23;
  constexpr std::size_t row_values = 5 * 7;
  std::vector<std::uint32_t> values(rows * row_values);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(3 * i + 1);
  const auto layout = GENERATE(chunked("raw", {4, 2, 3}), chunked("deflate", {4, 2, 3}, gzip),
                               chunked("larger than the dataset's end", {4, 5, 4}, gzip));
  const bool big_endian = GENERATE(false, true);
  const std::size_t written = GENERATE(std::size_t{rows}, std::size_t{8});
  {
    const auto x =
        writer.make("x", big_endian ? H5T_STD_U32BE : H5T_STD_U32LE, {rows, 5, 7}, layout);
    writer.write_rows(x.get(), 0, written, H5T_NATIVE_UINT32, values.data());
  }
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(written * row_values), values.end(), 0);
  const auto data = open_hdf5(writer.close(), {{"x"}}, least_memory);
  std::vector<sample_index> samples;
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < 3 * rows; ++i) {
    const std::size_t row = i % 3 == 0 ? rows - 1 - i / 3 : i * 5 % rows;
    samples.push_back({row});
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * row_values);
    expected.insert(expected.end(), first, first + row_values);
  }
  const auto out = read_rows(*data, samples, row_values * 4);
  CHECK(std::memcmp(out.data(), expected.data(), out.size()) == 0);
  data->prefetch(samples);
  data->read({}, std::vector{std::span<std::byte>{}});
}

TEST_CASE("hdf5: if several tiles are damaged, the one of the run's first sample is named",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "damaged.h5"};
  constexpr std::size_t extent = 64;
  std::vector<std::uint32_t> values(extent * extent);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
  writer.write("x", H5T_STD_U32LE, {extent, extent}, H5T_NATIVE_UINT32, values.data(),
               chunked("", {8, 8}, [](hid_t creation) { H5Pset_fletcher32(creation); }));
  const auto file = writer.close();
  auto bytes = bytes_of_file(file);
  // Row 17 in the last column of tiles, row 41 in the first.
  for (const std::uint32_t value : {17 * 64U + 60, 41 * 64U + 2}) {
    std::array<std::byte, 4> pattern{};
    std::memcpy(pattern.data(), &value, sizeof value);
    const auto found = std::search(bytes.begin(), bytes.end(), pattern.begin(), pattern.end());
    REQUIRE(found != bytes.end());
    *found ^= std::byte{1};
  }
  std::ofstream{file, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
  const auto failing = [&](const std::vector<sample_index>& samples) -> std::uint64_t {
    const auto data = open_hdf5(file, {{"x"}}, least_memory);
    try {
      (void)read_rows(*data, samples, extent * 4);
    } catch (const hdf5_error& error) {
      return error.sample().value();
    }
    return extent;
  };
  CHECK(failing({{3}, {20}, {42}}) == 20);
  CHECK(failing({{3}, {42}, {20}}) == 42);
  CHECK(failing({{40}}) == 40);
  CHECK(failing({{3}, {63}}) == extent);
}

TEST_CASE("hdf5: sixteen readers with memory for four tiles read all rows", "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "many.h5"};
  constexpr std::size_t extent = 64;
  std::vector<std::uint16_t> values(extent * extent);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i);
  writer.write("x", H5T_STD_U16LE, {extent, extent}, H5T_NATIVE_UINT16, values.data(),
               chunked("", {8, 8}, gzip));
  const auto data = open_hdf5(writer.close(), {{"x"}}, least_memory);
  std::vector<int> wrong(16, 0);
  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < wrong.size(); ++reader)
    readers.emplace_back([&, reader] {
      for (std::size_t row = reader; row < reader + extent; row += 3) {
        const auto out = read_rows(*data, {{row % extent}, {(row + 30) % extent}}, extent * 2);
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
          wrong[reader] +=
              std::memcmp(out.data() + i * extent * 2,
                          values.data() + (row + 30 * i) % extent * extent, extent * 2) != 0;
      }
    });
  for (auto& reader : readers) reader.join();
  CHECK(wrong == std::vector<int>(16, 0));
}
