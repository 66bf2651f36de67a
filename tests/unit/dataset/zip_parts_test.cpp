#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace feedline;

namespace {

dataset_ptr counting(const std::string& name, std::size_t samples, std::uint8_t first) {
  std::vector<std::uint8_t> values(samples);
  std::iota(values.begin(), values.end(), first);
  return make_memory_dataset({own(name, values)});
}

}  // namespace

TEST_CASE("zip: datasets of equal size are one with the fields of all", "[dataset][host]") {
  const auto pair = make_memory_dataset(
      {own("b", std::vector<std::uint8_t>(30, 7)), own("c", std::vector<std::uint8_t>(30, 9))});
  const auto all = zip({counting("a", 30, 1), pair, counting("d", 30, 100)});
  const field scalar{"", element_type::u8, {}};
  std::vector<field> fields(4, scalar);
  for (std::size_t i = 0; i < 4; ++i) fields[i].name = std::string(1, "abcd"[i]);
  test::check_dataset_contract(all, 30, fields, [](sample_index sample, std::size_t place) {
    const std::uint64_t values[] = {1 + sample.value, 7, 9, 100 + sample.value};
    return std::vector{static_cast<std::byte>(values[place])};
  });
  CHECK(all->rows().size() == 4);
  CHECK(all->concurrency() == read_concurrency::parallel);
}

TEST_CASE("zip: one part that is read by one thread at a time makes the whole so",
          "[dataset][host]") {
  const auto serialized = std::make_shared<const test::serialized_dataset>(counting("b", 30, 50));
  const auto all = zip({counting("a", 30, 1), serialized});
  CHECK(all->concurrency() == read_concurrency::serialized);
  CHECK(all->rows().empty());  // it knows where its rows are of one part only
}

TEST_CASE("zip: parts of different sizes, or with one name, are refused", "[dataset][host]") {
  CHECK(test::message_of<dataset_error>([] {
          (void)zip({counting("a", 3, 0), counting("b", 4, 0)});
        }) ==
        "field 'b': holds 4 samples, but field 'a' holds 3; all fields of a dataset hold the same "
        "number");
  CHECK(test::message_of<usage_error>([] {
          (void)zip({counting("a", 3, 0), counting("a", 3, 0)});
        }) == "dataset: fields 0 and 1 are both named 'a'; a batch finds a field by its name");
}
