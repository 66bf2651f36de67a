#include <feedline/error.hpp>

#include "hdf5/library/file.hpp"
#include "hdf5/rows/map_chunks.hpp"
#include "io/local/file.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/chunk_check.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::local_file;

namespace {

namespace fs = std::filesystem;

/// A tree of version 1: the index without checksums.
const indexed_dataset plain_tree{
    .name = "tree 1", .extents = {200, 3}, .chunk = {2, 3}, .latest_format = false};
const indexed_dataset plain_array{.name = "fixed array", .extents = {200, 3}, .chunk = {2, 3}};

std::string refusal_of(const fs::path& path) {
  return message_of<hdf5_error>([&] { (void)map_indexed(path); });
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

/// Puts 8 bytes in place of other 8, which occur once.
void replace_number(std::vector<std::byte>& bytes, std::uint64_t from, std::uint64_t to) {
  const auto encoded = [](std::uint64_t value) {
    std::array<std::byte, 8> out{};
    for (auto& byte : out) {
      byte = static_cast<std::byte>(value);
      value >>= 8;
    }
    return out;
  };
  const auto old = encoded(from);
  const auto at = std::search(bytes.begin(), bytes.end(), old.begin(), old.end());
  REQUIRE(at != bytes.end());
  std::ranges::copy(encoded(to), at);
  REQUIRE(std::search(bytes.begin(), bytes.end(), old.begin(), old.end()) == bytes.end());
}

std::vector<std::byte> read_whole(const fs::path& path) {
  const local_file file{path};
  std::vector<std::byte> bytes(file.size());
  file.read(0, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("hdf5 chunk map: the library knows no chunk of a dataset that was never written",
          "[dataset][host]") {
  const temporary_directory directory;
  for (auto dataset : datasets_of_every_index(100)) {
    dataset.writes = [](std::uint64_t) { return false; };
    INFO(dataset.name);
    const auto path = write_indexed_file(directory.path() / "x.h5", dataset);
    CHECK_FALSE(fault_of(map_indexed(path), dataset, path).has_value());
  }
}

TEST_CASE("hdf5 chunk map: a chunk beyond the file's end is refused by its number",
          "[dataset][host]") {
  const temporary_directory directory;
  const auto path = write_indexed_file(directory.path() / "x.h5", plain_tree);
  const auto before = map_indexed(path);
  auto bytes = read_whole(path);
  const std::uint64_t number = GENERATE(0U, 41U, 99U);
  const std::uint64_t address = bytes.size() - 5;
  replace_number(bytes, before[number].address, address);
  const auto bad = directory.write("bad.h5", bytes);
  CHECK(refusal_of(bad) ==
        bad.string() + ": field 'x', byte " + std::to_string(address) + ": chunk " +
            std::to_string(number) + ", of 6 bytes, lies beyond the file's end at byte " +
            std::to_string(bytes.size()) + "; the file is cut short or damaged: copy it again");
}

TEST_CASE("hdf5 chunk map: a damaged index is refused in the library's words", "[dataset][host]") {
  const temporary_directory directory;
  const auto path = write_indexed_file(directory.path() / "x.h5", plain_array);
  auto bytes = read_whole(path);
  constexpr std::string_view signature = "FADB";
  const auto block =
      std::search(bytes.begin(), bytes.end(), signature.begin(), signature.end(),
                  [](std::byte byte, char letter) { return static_cast<char>(byte) == letter; });
  REQUIRE(block != bytes.end());
  *(block + 40) ^= std::byte{1};
  const auto bad = directory.write("bad.h5", bytes);
  const auto message = refusal_of(bad);
  CHECK(contains(message, bad.string() + ": field 'x': the HDF5 library cannot find the chunk at "
                                         "element (0, 0); its index may be damaged: "));
  CHECK(contains(message, "checksum"));
}

TEST_CASE("hdf5 chunk map: a file that is not the dataset's is refused", "[dataset][host]") {
  const temporary_directory directory;
  const auto path = write_indexed_file(directory.path() / "x.h5", plain_tree);
  const auto bytes = read_whole(path);
  const auto half = directory.write("half.h5", std::span{bytes}.first(bytes.size() / 2));
  const auto text = directory.write("text", std::vector<std::byte>(4'000, std::byte{'x'}));
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, indexed_name);
  for (const auto& other : {half, text}) {
    const local_file wrong{other};
    const auto message = message_of<hdf5_error>(
        [&] { (void)detail::map_hdf5_chunks(hdf5, dataset.get(), wrong, indexed_name); });
    CHECK(contains(message, other.string() +
                                ": field 'x': the HDF5 library cannot open it again to "
                                "look for its chunks; the file may be being written, or "
                                "was replaced: "));
  }
}

TEST_CASE("hdf5 chunk map: a file that this program writes is refused", "[dataset][host]") {
  const temporary_directory directory;
  const auto path = write_indexed_file(directory.path() / "x.h5", plain_tree);
  const detail::hdf5_file_id writing{H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)};
  REQUIRE(writing);
  CHECK(contains(refusal_of(path),
                 ": field 'x': this program has the file open for writing, so "
                 "that its chunks may not be where the file says; close it there"));
}

TEST_CASE("hdf5 chunk map: a dataset without chunks is refused", "[dataset][host]") {
  const temporary_directory directory;
  hdf5_writer writer{directory.path() / "x.h5"};
  const auto values = various_bytes(100);
  SECTION("contiguous") {
    writer.write(indexed_name, H5T_NATIVE_UINT8, {10, 10}, H5T_NATIVE_UINT8, values.data());
    CHECK(contains(refusal_of(writer.close()), ": field 'x': has no chunks to be mapped"));
  }
  SECTION("no elements") {
    const indexed_dataset empty{.name = "",
                                .extents = {0, 3},
                                .chunk = {2, 3},
                                .max_extents = {indexed_dataset::unlimited, 3}};
    (void)write_indexed(writer, empty);
    CHECK(contains(refusal_of(writer.close()), ": field 'x': has no elements"));
  }
}

// A few bytes of a file can declare any number of chunks.
TEST_CASE("hdf5 chunk map: more chunks than the file could hold are refused before memory is taken",
          "[dataset][host]") {
  const temporary_directory directory;
  const auto [extents, count] = GENERATE(
      table<extent_vector, std::string>({{{hsize_t{1} << 40, 4}, "1099511627776"},
                                         {{hsize_t{1} << 62, 4}, "more than can be counted"}}));
  const indexed_dataset sparse{.name = "",
                               .extents = extents,
                               .chunk = {1, 4},
                               .latest_format = false,
                               .writes = [](std::uint64_t) { return false; }};
  hdf5_writer writer{directory.path() / "x.h5"};
  {
    auto few = sparse;
    few.extents = {4, 4};
    few.max_extents = {indexed_dataset::unlimited, 4};
    const auto made = write_indexed(writer, few);
    require_hdf5(H5Dset_extent(made.get(), extents.data()) >= 0, "resize");
  }
  const auto path = writer.close();
  const std::string refusal =
      "has so many chunks (" + count + ") that a map of them would be larger than the file";
  CHECK(contains(refusal_of(path), ": field 'x': " + refusal));

  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, indexed_name);
  CHECK(detail::hdf5_map_refusal(hdf5, dataset.get(), local_file{path}) == refusal);
}
