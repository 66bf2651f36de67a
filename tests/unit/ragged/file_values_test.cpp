#include "ragged/file_values.hpp"

#include <feedline/error.hpp>

#include "io/file_system.hpp"
#include "ragged/record_columns.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/test_records.hpp"
#include "support/files/temporary_directory.hpp"

#include <filesystem>
#include <vector>

using namespace feedline;
using detail::values_in_file;

TEST_CASE("file values: parts of several files are records, and errors name file and byte",
          "[dataset][host]") {
  const test::temporary_directory folder;
  auto bytes = test::record_of(1, {8, 9});
  const auto other = test::record_of(2, {});
  bytes.insert(bytes.end(), other.begin(), other.end());
  const auto one = detail::open_file(folder.write("one", bytes));
  const auto two = detail::open_file(folder.write("two", bytes));
  const auto values = detail::make_file_values(
      std::vector<values_in_file>{{one, {{0, 8}, {8, 12}}}, {two, {}}, {two, {{8, 12}, {0, 3}}}});
  CHECK(values->size() == 4);
  CHECK(values->stored_bytes(1) == 4);
  const auto data = detail::make_record_dataset(
      "test", values, std::make_shared<const test::number_and_words>(), {.fields = {"number"}});
  for (const auto& [sample, number] : {std::pair{0, 1}, {1, 2}, {2, 2}})
    CHECK(test::read_sample(*data, {static_cast<std::uint64_t>(sample)})[0] ==
          test::as_byte_vector(std::vector{number}));
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*data, {3}); }) ==
        two->name() + ": field 'number', sample 3, byte 0: is cut short");
  CHECK_NOTHROW(data->prefetch(std::vector<sample_index>{{0}, {3}, {4}}));
  std::filesystem::resize_file(one->name(), 5);
  CHECK(test::message_of<dataset_error>([&] {
          (void)test::read_sample(*data, {0});
        }).starts_with(one->name() + ": "));
}
