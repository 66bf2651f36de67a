#include <feedline/hdf5/dataset.hpp>

#include "hdf5/library/handle.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/sanitized.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Processor time. A fast case takes less than a tenth of the limits here, and ten times as long
/// under a sanitizer.
double seconds() {
  constexpr double slower = sanitized ? 10 : 1;
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC / slower;
}

}  // namespace

TEST_CASE(
    "hdf5: records of 1,000 columns are listed and opened in less than seconds, texts among them",
    "[dataset][host]") {
  constexpr std::size_t columns = 1000;
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "columns.h5"};
  const detail::hdf5_type_id text{H5Tcopy(H5T_C_S1)};
  H5Tset_size(text.get(), H5T_VARIABLE);
  // In records of the file a text of variable length takes 16 bytes, and moves everything after it.
  const std::size_t texts = columns / 100;
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, columns * 8)};
  for (std::size_t i = 0; i < columns; ++i)
    H5Tinsert(record.get(), ("c" + std::to_string(i)).c_str(), i * 8,
              i % 100 == 0 ? text.get() : H5T_STD_U64LE);
  std::vector<std::uint64_t> values(3 * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % columns % 100 == 0 ? 0 : i;
  writer.write("t", record.get(), {3}, record.get(), values.data());
  const auto file = writer.close();

  const double start = seconds();
  auto listings = list_hdf5_fields(file);
  CHECK(seconds() - start < 0.7);
  CHECK(std::erase_if(listings, [](const auto& listing) { return listing.is_ragged; }) == texts);
  REQUIRE(listings.size() == columns - texts);
  CHECK(listings.front().dataset == "/t/c1");
  CHECK(listings.back().member == "c999");
  CHECK(listings.back().access == "contiguous, in records of 8080 bytes");

  std::vector<hdf5_field> fields;
  for (const auto& listing : listings) fields.push_back({listing.dataset});
  const double opening = seconds();
  const auto opened = open_hdf5(file, fields);
  CHECK(seconds() - opening < 1.2);
  std::vector<std::uint64_t> row(fields.size());
  std::vector<std::span<std::byte>> out;
  for (auto& value : row) out.push_back(std::as_writable_bytes(std::span{&value, 1}));
  opened->read(std::vector{sample_index{2}}, out);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    wrong += row[i] != 2 * columns + std::stoull(listings[i].member.substr(1));
  CHECK(wrong == 0);
}

TEST_CASE("hdf5: 2,000 groups one in the other, a dataset in each, are listed in less than seconds",
          "[dataset][host]") {
  constexpr std::size_t depth = 2000;
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "deep.h5"};
  const hsize_t three = 3;
  const detail::hdf5_space_id space{H5Screate_simple(1, &three, nullptr)};
  {
    detail::hdf5_object_id group{H5Gopen2(writer.id(), "/", H5P_DEFAULT)};
    for (std::size_t i = 0; i < depth; ++i) {
      const detail::hdf5_dataset_id made{H5Dcreate2(group.get(), "x", H5T_STD_U8LE, space.get(),
                                                    H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
      require_hdf5(static_cast<bool>(made), "make a dataset");
      group = detail::hdf5_object_id{
          H5Gcreate2(group.get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
      require_hdf5(static_cast<bool>(group), "make a group");
    }
  }
  const auto file = writer.close();
  const double start = seconds();
  const auto listings = list_hdf5_fields(file);
  CHECK(seconds() - start < 3);
  REQUIRE(listings.size() == depth);
  const std::string deepest = listings.front().dataset;
  CHECK(deepest.size() == 2 * depth);
  CHECK(open_hdf5(file, {{deepest}})->size() == 3);
}
