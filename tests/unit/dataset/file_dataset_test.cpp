#include "dataset/rows_dataset.hpp"
#include "io/local/file.hpp"
#include "rows/file_rows.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace std::chrono_literals;

namespace {

using test::numbered;

byte_file_ptr opened(const std::filesystem::path& path, file_access how = file_access::automatic) {
  return std::make_shared<const local_file>(path, how, 0ns);
}

rows_field field_in(const byte_file_ptr& file, const field& spec, const row_place& place,
                    std::uint64_t rows) {
  return {spec, std::make_shared<const file_rows>(file, spec.name, place, rows)};
}

/// `rows` dense rows of bytes.
rows_field bytes_field(std::string name, const byte_file_ptr& file, std::size_t row_bytes,
                       std::uint64_t rows) {
  return field_in(file, {std::move(name), element_type::u8, {row_bytes}},
                  {.offset = 0, .stride = row_bytes, .row_bytes = row_bytes}, rows);
}

dataset_ptr make_file_dataset(std::vector<rows_field> fields) {
  return make_rows_dataset("file dataset", std::move(fields));
}

}  // namespace

TEST_CASE("file dataset: it keeps the dataset contract, with fields of one file and of several",
          "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const test::temporary_directory folder;
  const auto records = numbered(101 * 15);
  const auto others = numbered(101 * 784);
  const auto file = opened(folder.write("records.bin", records), how);
  const auto other = opened(folder.write("others.bin", others), how);
  const auto dataset = make_file_dataset({
      field_in(file, {"a", element_type::u8, {}}, {.offset = 0, .stride = 15, .row_bytes = 1}, 101),
      field_in(file, {"b", element_type::u16, {7}},
               {.offset = 1, .stride = 15, .row_bytes = 14, .swapped_bytes = 2}, 101),
      bytes_field("c", other, 784, 101),
  });
  test::check_dataset_contract(
      dataset, 101,
      {{"a", element_type::u8, {}}, {"b", element_type::u16, {7}}, {"c", element_type::u8, {784}}},
      [&](sample_index sample, std::size_t place) {
        if (place == 0) return std::vector<std::byte>{records[sample.value * 15]};
        const auto begin = place == 1 ? records.begin() + static_cast<long>(sample.value * 15 + 1)
                                      : others.begin() + static_cast<long>(sample.value * 784);
        std::vector<std::byte> bytes(begin, begin + (place == 1 ? 14 : 784));
        if (place == 1)
          for (std::size_t i = 0; i < 14; i += 2) std::swap(bytes[i], bytes[i + 1]);
        return bytes;
      });
}

TEST_CASE("file dataset: a sample that there is not is refused, not read", "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const test::temporary_directory folder;
  const auto file = opened(folder.write("rows.bin", numbered(100)), how);
  const auto dataset = make_file_dataset({bytes_field("x", file, 10, 5)});
  CHECK(test::message_of<dataset_error>([&] {
          (void)test::read_samples(*dataset, {sample_index{0}, sample_index{5}, sample_index{1}});
        }) == "sample 5: there is no such sample: the dataset has 5");
}

TEST_CASE("file dataset: its bytes may change with the file, so it offers no rows to a device",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = opened(folder.write("rows.bin", numbered(100)), file_access::mapped);
  CHECK(make_file_dataset({bytes_field("x", file, 10, 10)})->rows().empty());
}

TEST_CASE("file dataset: a change of any of its files ends the read in an error with that path",
          "[dataset][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const auto change = GENERATE(values(test::all_file_changes));
  const test::temporary_directory folder;
  const auto path = folder.write("second.bin", numbered(8192));
  test::let_age(path);
  const auto dataset = make_file_dataset(
      {bytes_field("x", opened(folder.write("first.bin", numbered(8192)), how), 64, 128),
       bytes_field("y", opened(path, how), 64, 128)});
  (void)test::read_sample(*dataset, sample_index{1});
  test::change_file(path, change);
  try {
    (void)test::read_sample(*dataset, sample_index{1});
    FAIL("nothing was thrown");
  } catch (const dataset_error& error) {
    CHECK(error.path() == path);
    const bool read_first =
        how == file_access::by_calls && change == test::file_change::cut_to_nothing;
    CHECK(error.message().find(read_first ? "ends here; it was cut"
                                          : test::words_for(change, 8192)) == 0);
  }
}

TEST_CASE("file dataset: hints are wanted while one of its files is not in memory",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(1 << 20));
  const auto dataset = make_file_dataset({bytes_field("x", opened(path), 1024, 1024)});
  CHECK_FALSE(dataset->wants_prefetch());  // written a moment ago
  dataset->prefetch(std::vector{sample_index{3}, sample_index{1023}});
}

TEST_CASE("file dataset: fields that make no dataset are refused, with the reason",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto path = folder.write("rows.bin", numbered(100));
  const auto file = opened(path);
  CHECK(test::message_of<usage_error>([] { (void)make_file_dataset({}); }) ==
        "file dataset: a dataset needs at least one field");
  CHECK(test::message_of<usage_error>([&] {
          (void)make_file_dataset({bytes_field("x", file, 10, 10), bytes_field("x", file, 5, 10)});
        }) == "file dataset: fields 0 and 1 are both named 'x'; a batch finds a field by its name");
  CHECK(test::message_of<usage_error>([&] {
          auto field = bytes_field("x", file, 10, 10);
          field.spec.shape = {3};
          (void)make_file_dataset({field});
        }) == "file dataset: field x: uint8[3] takes 3 bytes a sample, but its rows have 10");
  CHECK(test::message_of<dataset_error>([&] {
          (void)make_file_dataset({bytes_field("x", file, 10, 10), bytes_field("y", file, 10, 9)});
        }) ==
        path.string() +
            ": field 'y': holds 9 samples, but field 'x' holds 10; all fields of a dataset hold "
            "the same number");
}
