#include <feedline/error.hpp>

#include "hdf5/format/metadata.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/rows/map_chunks.hpp"
#include "io/local/file.hpp"
#include "support/checks/catch.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/memory_file.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/hdf5/chunk_check.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

namespace fs = std::filesystem;

std::vector<std::byte> read_whole(const fs::path& path) {
  const detail::local_file file{path};
  std::vector<std::byte> bytes(file.size());
  file.read(0, bytes);
  return bytes;
}

/// Through the filters, so that the library can read what it wrote.
std::vector<std::byte> write_whole(hid_t dataset, std::size_t bytes) {
  auto values = various_bytes(bytes);
  require_hdf5(
      H5Dwrite(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0,
      "write");
  return values;
}

void check_map(const fs::path& path, const indexed_dataset& dataset) {
  const auto fault = fault_of(map_indexed(path), dataset, path);
  INFO(fault.value_or("no fault"));
  CHECK_FALSE(fault.has_value());
}

}  // namespace

TEST_CASE("hdf5 chunk map: addresses count from the file's front, under any user block",
          "[dataset][host]") {
  const hsize_t userblock = GENERATE(512U, 1024U, 4096U);
  const temporary_directory directory;
  for (const auto& dataset : datasets_of_every_index(100)) {
    INFO(dataset.name << ", " << userblock);
    check_map(write_indexed_file(directory.path() / "x.h5", dataset, {.userblock = userblock}),
              dataset);
  }
}

// Does the same as h5jam and h5unjam, which leave the superblock's base address unchanged.
TEST_CASE("hdf5 chunk map: a user block may be put before a file, or taken away",
          "[dataset][host]") {
  const temporary_directory directory;
  for (const auto& dataset : datasets_of_every_index(100)) {
    INFO(dataset.name);
    auto bytes = read_whole(write_indexed_file(directory.path() / "x.h5", dataset));
    bytes.insert(bytes.begin(), 1024, std::byte{'u'});
    check_map(directory.write("jammed.h5", bytes), dataset);

    bytes = read_whole(write_indexed_file(directory.path() / "x.h5", dataset, {.userblock = 512}));
    bytes.erase(bytes.begin(), bytes.begin() + 512);
    check_map(directory.write("unjammed.h5", bytes), dataset);
  }
}

TEST_CASE("hdf5 chunk map: addresses and lengths may be shorter", "[dataset][host]") {
  const temporary_directory directory;
  const std::size_t offset_bytes = GENERATE(4U, 8U);
  const std::size_t length_bytes = GENERATE(4U, 8U);
  for (const auto& dataset : datasets_of_every_index(100)) {
    // With lengths of 4 bytes the library itself takes no dimension for unlimited when it reads.
    if (length_bytes == 4 && !dataset.max_extents.empty()) continue;
    INFO(dataset.name << ", " << offset_bytes << " and " << length_bytes);
    check_map(write_indexed_file(directory.path() / "x.h5", dataset,
                                 {.offset_bytes = offset_bytes, .length_bytes = length_bytes}),
              dataset);
  }
}

TEST_CASE("hdf5 chunk map: space may be handed out by pages", "[dataset][host]") {
  const temporary_directory directory;
  for (const auto& dataset : datasets_of_every_index(300)) {
    INFO(dataset.name);
    check_map(write_indexed_file(directory.path() / "x.h5", dataset, {.in_pages = true}), dataset);
  }
}

TEST_CASE("hdf5 metadata: a cache image is found in a file, and only where there is one",
          "[dataset][host]") {
#if H5_VERSION_GE(1, 10, 9) && !H5_VERSION_GE(1, 12, 0)
  FEEDLINE_SKIP(
      "this HDF5 library cannot close what it wrote so, and crashes at the program's end");
#endif
  const temporary_directory directory;
  for (auto dataset : datasets_of_every_index(100)) {
    // HDF5 1.10 cannot close a file whose image has an extensible array, and fails when the program
    // ends.
    if (!dataset.latest_format || dataset.name.find("extensible") != std::string::npos) continue;
    for (const bool cache_image : {true, false}) {
      INFO(dataset.name);
      const detail::local_file file{
          write_indexed_file(directory.path() / "x.h5", dataset, {.cache_image = cache_image})};
      detail::hdf5_metadata metadata{file};
      CHECK(detail::has_cache_image(metadata) == cache_image);
    }
  }
}

TEST_CASE("hdf5 chunk map: a dataset that grew or shrank has the chunks of its present extents",
          "[dataset][host]") {
  constexpr hsize_t open = indexed_dataset::unlimited;
  const extent_vector resized = GENERATE(extent_vector{31, 3}, extent_vector{9, 16},
                                         extent_vector{40, 21}, extent_vector{1, 1});
  const extent_vector max_extents = GENERATE(extent_vector{open, open}, extent_vector{open, 30},
                                             extent_vector{60, open}, extent_vector{40, 21});
  const bool latest_format = GENERATE(false, true);
  const bool is_filtered = GENERATE(false, true);
  const temporary_directory directory;
  const indexed_dataset dataset{.name = "",
                                .extents = {20, 14},
                                .chunk = {3, 4},
                                .max_extents = max_extents,
                                .is_filtered = is_filtered,
                                .latest_format = latest_format,
                                .writes = [](std::uint64_t) { return false; }};
  const auto path = directory.path() / "x.h5";
  {
    hdf5_writer writer{path, {.latest_format = latest_format}};
    const auto made = write_indexed(writer, dataset);
    write_whole(made.get(), 20 * 14);
    require_hdf5(H5Dset_extent(made.get(), resized.data()) >= 0, "resize");
  }
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto opened = file.open_dataset(hdf5, indexed_name);
  const detail::local_file bytes{path};
  const auto map = detail::map_hdf5_chunks(hdf5, opened.get(), bytes, indexed_name);
  CHECK(std::ranges::equal(map.extents(), resized));
  const auto difference = difference_from_library(opened.get(), bytes, map);
  INFO(difference.value_or("no difference"));
  CHECK_FALSE(difference.has_value());
  // Chunks that were written before have the same position in both grids.
  CHECK(map[0].is_written());
  CHECK(map[map.size() - 1].is_written() == (resized[0] <= 21 && resized[1] <= 16));
}

TEST_CASE("hdf5 chunk map: partial chunks that were left unfiltered say so", "[dataset][host]") {
  const temporary_directory directory;
  const indexed_dataset dataset{.name = "",
                                .extents = {20, 14},
                                .chunk = {3, 4},
                                .is_filtered = true,
                                .options = H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS,
                                .writes = [](std::uint64_t) { return false; }};
  const auto path = directory.path() / "x.h5";
  std::vector<std::byte> values;
  {
    hdf5_writer writer{path, {.latest_format = true}};
    values = write_whole(write_indexed(writer, dataset).get(), 20 * 14);
  }
  const auto map = map_indexed(path);
  REQUIRE(map.size() == 28);
  const detail::local_file bytes{path};
  for (std::uint64_t number = 0; number < map.size(); ++number) {
    const bool is_partial = number % 4 == 3 || number >= 24;
    INFO("chunk " << number);
    CHECK(map.is_partial(number) == is_partial);
    CHECK(map[number].filter_mask == (is_partial ? ~std::uint32_t{0} : 0U));
    if (!is_partial) continue;
    REQUIRE(map[number].bytes == 12);
    std::vector<std::byte> first(1);
    bytes.read(map[number].address, first);
    CHECK(first[0] == values[number / 4 * 3 * 14 + number % 4 * 4]);
  }
}

TEST_CASE("hdf5 chunk map: a dataset at the end of an external link is found in its own file",
          "[dataset][host]") {
  const temporary_directory directory;
  const auto dataset = datasets_of_every_index(100).front();
  const auto target = write_indexed_file(directory.path() / "target.h5", dataset);
  hdf5_writer writer{directory.path() / "link.h5"};
  writer.make_external_link(target, indexed_name, "link");
  const auto link = writer.close();

  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, link};
  const auto opened = file.open_dataset(hdf5, "link");
  const detail::local_file bytes{target};
  const auto map = detail::map_hdf5_chunks(hdf5, opened.get(), bytes, "link");
  CHECK_FALSE(fault_of(map, dataset, target).has_value());
}

TEST_CASE("hdf5 chunk map: a file needs no path", "[dataset][host]") {
  const temporary_directory directory;
  const auto dataset = datasets_of_every_index(100).front();
  const auto path = write_indexed_file(directory.path() / "x.h5", dataset);
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto opened = file.open_dataset(hdf5, indexed_name);
  const auto bytes = memory_file(bytes_of_file(path));
  const auto map = detail::map_hdf5_chunks(hdf5, opened.get(), *bytes, indexed_name);
  CHECK_FALSE(fault_of(map, dataset, path).has_value());
}

namespace {

/// Maps one dataset of a file, if it is chunked. @return The fault, if there is one.
std::optional<std::string> fault_of_dataset(const detail::hdf5_session& hdf5,
                                            const detail::hdf5_file& file,
                                            const detail::local_file& bytes,
                                            const std::string& name, std::size_t& mapped) {
  const auto dataset = file.open_dataset(hdf5, name);
  const detail::hdf5_properties_id creation{H5Dget_create_plist(dataset.get())};
  const detail::hdf5_file_id home{H5Iget_file_id(dataset.get())};
  std::string home_name(bytes.name().size() + 1, '\0');
  const auto length = H5Fget_name(home.get(), home_name.data(), home_name.size());
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED || home_name.c_str() != bytes.name() ||
      static_cast<std::size_t>(length) != bytes.name().size())
    return std::nullopt;
  try {
    const auto map = detail::map_hdf5_chunks(hdf5, dataset.get(), bytes, name);
    ++mapped;
    return difference_from_library(dataset.get(), bytes, map);
  } catch (const hdf5_error& refused) {
    const std::string message = refused.what();
    for (const auto* known : {"has no elements", "so many chunks", "no chunks to be mapped"})
      if (message.find(known) != std::string::npos) return std::nullopt;
    return message;
  }
}

}  // namespace

// Files of the jHDF project, made by many versions of h5py and HDF5.
TEST_CASE("hdf5 chunk map: every chunk of other programs' files is where the library finds it",
          "[dataset][host]") {
  const auto folder = find_test_data("hdf5/jhdf");
  if (!folder)
    FEEDLINE_SKIP("no jHDF files: name the folder above hdf5/jhdf in FEEDLINE_TEST_DATA");
  std::size_t mapped = 0;
  const detail::hdf5_session hdf5;
  for (const auto& entry : fs::directory_iterator{*folder}) {
    if (entry.path().extension() != ".hdf5") continue;
    std::optional<detail::hdf5_file> file;
    try {
      file.emplace(hdf5, entry.path());
    } catch (const hdf5_error&) {
      continue;  // not a file that the library opens
    }
    const detail::local_file bytes{entry.path()};
    for (const auto& [name, unreadable] : file->datasets(hdf5)) {
      if (!unreadable.empty()) continue;
      const auto fault = fault_of_dataset(hdf5, *file, bytes, name, mapped);
      INFO(entry.path().filename().string() << ' ' << name << ": " << fault.value_or("no fault"));
      CHECK_FALSE(fault.has_value());
    }
  }
  CHECK(mapped > 50);
}
