#include "hdf5/rows/map_chunks.hpp"

#include "hdf5/library/file.hpp"
#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/chunk_check.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::hdf5_chunk;
using detail::hdf5_chunk_map;

namespace {

/// The fault of a map compared with the library's own call, if there is one. That call is slow, and
/// before 1.14.4 its addresses lack the user block.
std::optional<std::string> fault_by_library(const hdf5_chunk_map& map,
                                            const std::filesystem::path& path) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path};
  const auto dataset = file.open_dataset(hdf5, indexed_name);
  for (std::uint64_t number = 0; number < map.size(); ++number) {
    std::array<std::uint64_t, 3> first{};
    map.first_element(number, std::span{first}.first(map.grid().size()));
    const std::array<hsize_t, 3> offset{first[0], first[1], first[2]};
    unsigned filter_mask = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info_by_coord(dataset.get(), offset.data(), &filter_mask, &address, &bytes) <
        0)
      return hdf5.last_message();
    const hdf5_chunk& chunk = map[number];
    if (chunk.is_written() != (address != HADDR_UNDEF)) return "one is there for one alone";
    if (!chunk.is_written()) continue;
    if (chunk.address != address || chunk.bytes != bytes || chunk.filter_mask != filter_mask)
      return "chunk " + std::to_string(number) + " differs";
  }
  return std::nullopt;
}

void check_map(const std::filesystem::path& path, const indexed_dataset& dataset) {
  const auto fault = fault_of(map_indexed(path), dataset, path);
  INFO(fault.value_or("no fault"));
  CHECK_FALSE(fault.has_value());
}

}  // namespace

TEST_CASE("hdf5 chunk map: every index of every size tells where each chunk's bytes are",
          "[dataset][host]") {
  const std::uint64_t chunks = GENERATE(12U, 100U, 1'000U, 10'000U);
  const temporary_directory directory;
  for (const auto& dataset : datasets_of_every_index(chunks)) {
    INFO(dataset.name << ", " << chunks << " chunks");
    check_map(write_indexed_file(directory.path() / "x.h5", dataset), dataset);
  }
}

TEST_CASE("hdf5 chunk map: each chunk is at the library's address, with its size",
          "[dataset][host]") {
  const temporary_directory directory;
  for (const auto& dataset : datasets_of_every_index(100)) {
    // There the library's call is wrong: it goes through the elements in an order that is not
    // theirs.
    if (dataset.name.find("unlimited in the middle") != std::string::npos) continue;
    INFO(dataset.name);
    const auto path = write_indexed_file(directory.path() / "x.h5", dataset);
    const auto fault = fault_by_library(map_indexed(path), path);
    INFO(fault.value_or("no fault"));
    CHECK_FALSE(fault.has_value());
  }
}

TEST_CASE("hdf5 chunk map: chunks that were never written are nowhere", "[dataset][host]") {
  const temporary_directory directory;
  const std::vector<std::function<bool(std::uint64_t)>> patterns{
      [](std::uint64_t) { return false; },
      [](std::uint64_t number) { return number == 0; },
      [](std::uint64_t number) { return number % 3 == 1; },
      [](std::uint64_t number) { return number > 2'950; },
      [](std::uint64_t number) { return number < 50 || (number > 1'500 && number < 1'530); },
  };
  for (auto dataset : datasets_of_every_index(3'000))
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      INFO(dataset.name << ", pattern " << i);
      dataset.writes = patterns[i];
      check_map(write_indexed_file(directory.path() / "x.h5", dataset), dataset);
    }
}

TEST_CASE("hdf5 chunk map: an index is read alike from memory and by reading", "[dataset][host]") {
  const temporary_directory directory;
  for (const auto& dataset : datasets_of_every_index(1'000)) {
    INFO(dataset.name);
    const auto path = write_indexed_file(directory.path() / "x.h5", dataset);
    const auto in_memory = map_indexed(path, detail::file_access::mapped);
    const auto by_reading = map_indexed(path, detail::file_access::by_calls);
    bool are_equal = in_memory.size() == by_reading.size();
    for (std::uint64_t i = 0; i < in_memory.size() && are_equal; ++i)
      are_equal = in_memory[i] == by_reading[i];
    CHECK(are_equal);
  }
}

TEST_CASE("hdf5 chunk map: a dataset of one chunk has one", "[dataset][host]") {
  const temporary_directory directory;
  const bool is_filtered = GENERATE(false, true);
  const bool is_written = GENERATE(false, true);
  const indexed_dataset dataset{.name = "single",
                                .extents = {5, 4},
                                .chunk = {5, 4},
                                .is_filtered = is_filtered,
                                .writes = [is_written](std::uint64_t) { return is_written; }};
  const auto path = write_indexed_file(directory.path() / "x.h5", dataset);
  check_map(path, dataset);
  CHECK(map_indexed(path).size() == 1);
}
