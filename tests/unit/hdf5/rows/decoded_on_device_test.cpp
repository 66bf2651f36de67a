/// HDF5's chunks as a device decodes them: the same batches and errors as readers give.

#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/encoders.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const hdf5_options nothing_resident{.max_resident_bytes = 0};

constexpr std::uint64_t rows = 150;
constexpr std::uint64_t row_values = 12;

enum class coding { deflate, lz4 };

coding any_coding() {
  return GENERATE(as<coding>{}, coding::deflate, coding::lz4);
}

/// Compresses like the filter's plugin, which need not be installed.
void write_by_lz4(hdf5_writer& writer, std::span<const std::byte> values) {
  constexpr std::uint64_t chunk = 16;
  constexpr std::uint64_t chunk_bytes = chunk * row_values * 4;
  const auto apply = [](hid_t creation) {
    require_hdf5(H5Pset_filter(creation, 32004, H5Z_FLAG_OPTIONAL, 0, nullptr) >= 0, "set filter");
    H5Eclear2(H5E_DEFAULT);  // the library lacks it, and continues
  };
  const auto images = writer.make("image", H5T_STD_I32LE, {rows, row_values},
                                  chunked("", {chunk, row_values}, apply));
  for (std::uint64_t row = 0; row < rows; row += chunk) {
    const auto from = values.subspan(row * row_values * 4);
    std::vector<std::byte> plain(chunk_bytes);
    std::copy_n(from.begin(), std::min(from.size(), plain.size()), plain.begin());
    writer.write_chunk(images.get(), {row, 0}, lz4_packed(plain, 300));
  }
}

/// Images in chunks of 16, and labels in chunks of 40, both compressed; the last of each is short.
std::filesystem::path write_file(const temporary_directory& folder, coding images) {
  const auto compressed = [](hid_t creation) {
    require_hdf5(H5Pset_shuffle(creation) >= 0 && H5Pset_deflate(creation, 4) >= 0, "set filters");
  };
  const std::vector<std::byte> bytes = various_bytes(rows * row_values * 4);
  hdf5_writer writer{folder.path() / "x.h5"};
  if (images == coding::lz4)
    write_by_lz4(writer, bytes);
  else
    writer.write("image", H5T_STD_I32LE, {rows, row_values}, H5T_NATIVE_INT32, bytes.data(),
                 chunked("", {16, row_values}, compressed));
  writer.write("label", H5T_STD_U8LE, {rows}, H5T_NATIVE_UINT8, bytes.data(),
               chunked("", {40}, compressed));
  return writer.close();
}

struct epoch_result {
  std::vector<std::vector<std::byte>> fields;  ///< fields of each batch
  std::optional<std::string> error;
};

epoch_result deliver(const std::filesystem::path& file, decode_on who, const sampler& order) {
  const scripted on;
  loader loader{open_hdf5(file, {{"image"}, {"label"}}, nothing_resident),
                order,
                on.device,
                {.batch_size = 10, .readers = 2, .decode_on = who}};
  REQUIRE(loader.plan().decode_on == who);
  epoch_result seen;
  try {
    for (const batch& batch : loader.epoch(0, on.stream)) {
      on.device->drain(on.stream);
      for (const char* const name : {"image", "label"})
        seen.fields.emplace_back(batch[name].bytes().begin(), batch[name].bytes().end());
    }
  } catch (const stage_error& failure) {
    seen.error = failure.what();
  }
  return seen;
}

}  // namespace

TEST_CASE("hdf5 decoded on a device: batches are those that readers make", "[loader][host]") {
  const coding images = any_coding();
  if (images == coding::lz4 && !has_lz4) FEEDLINE_SKIP("feedline was built without liblz4");
  const temporary_directory folder;
  const auto file = write_file(folder, images);
  const sampler order = GENERATE(true, false) ? sampler{shuffle{.seed = 4, .within = chunks(3)}}
                                              : sampler{sequential{}};
  const epoch_result expected = deliver(file, decode_on::cpu, order);
  const epoch_result seen = deliver(file, decode_on::device, order);
  CHECK(expected.fields.size() == 2 * 15);
  CHECK(seen.fields == expected.fields);
  CHECK(seen.error == std::nullopt);
}

TEST_CASE("hdf5 decoded on a device: a damaged chunk has the error of a read on the CPU",
          "[loader][host]") {
  const coding images = any_coding();
  if (images == coding::lz4 && !has_lz4) FEEDLINE_SKIP("feedline was built without liblz4");
  const temporary_directory folder;
  const auto file = write_file(folder, images);
  const std::uint64_t chunk = GENERATE(0U, 4U, 9U);
  auto bytes = bytes_of_file(file);
  {
    const auto data = open_hdf5(file, {{"image"}, {"label"}}, nothing_resident);
    const auto blocks = data->encoded();
    REQUIRE(blocks);
    const auto stored = stored_bytes(*blocks, 0, chunk);
    const auto at = std::search(bytes.begin(), bytes.end(), stored.begin(), stored.end());
    REQUIRE(at != bytes.end());
    // A byte of the checksum, or, because LZ4 has none, of the size stored in the chunk.
    const std::size_t damaged = images == coding::lz4 ? 7 : stored.size() - 2;
    *(at + static_cast<std::ptrdiff_t>(damaged)) ^= std::byte{0x10};
  }
  std::ofstream{file, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
  const epoch_result expected = deliver(file, decode_on::cpu, sequential{});
  const epoch_result seen = deliver(file, decode_on::device, sequential{});
  REQUIRE(expected.error);
  CHECK(contains(*expected.error, "image"));
  CHECK(seen.error == expected.error);
  CHECK(seen.fields == expected.fields);
  CHECK(seen.fields.size() == chunk * 16 / 10 * 2);
}
