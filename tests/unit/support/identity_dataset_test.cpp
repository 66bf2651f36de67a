#include "support/datasets/identity_dataset.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"

#include <cstring>
#include <vector>

using namespace feedline;

namespace {

std::vector<std::byte> bytes_of(std::uint64_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

TEST_CASE("identity dataset: it keeps the dataset contract, and every sample spells its index",
          "[dataset][host]") {
  const std::size_t row_bytes = GENERATE(1u, 8u, 29u);
  const auto identity = test::make_identity_dataset(100, row_bytes);
  test::check_dataset_contract(
      identity, 100, {{"id", element_type::u64, {}}, {"row", element_type::u8, {row_bytes}}},
      [row_bytes](sample_index sample, std::size_t place) {
        if (place == 0) return bytes_of(sample.value);
        std::vector<std::byte> row(row_bytes);
        test::write_identity_row(sample.value, row);
        return row;
      });
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto sample = test::read_sample(*identity, sample_index{i});
    CHECK(test::is_identity(i, sample[0], sample[1]));
  }
}

TEST_CASE("identity dataset: another sample's id, a stale row, and one wrong byte are all found",
          "[dataset][host]") {
  const auto identity = test::make_identity_dataset(10, 29);
  const auto three = test::read_sample(*identity, sample_index{3});
  const auto four = test::read_sample(*identity, sample_index{4});
  CHECK_FALSE(test::is_identity(4, three[0], three[1]));
  CHECK_FALSE(test::is_identity(4, four[0], three[1]));
  CHECK_FALSE(test::is_identity(4, three[0], four[1]));
  for (std::size_t at = 0; at < four[1].size(); ++at) {
    auto torn = four[1];
    torn[at] ^= std::byte{1};
    CHECK_FALSE(test::is_identity(4, four[0], torn));
  }
}

TEST_CASE("identity dataset: a row of no bytes is refused", "[dataset][host]") {
  CHECK_THROWS_AS(test::make_identity_dataset(10, 0), usage_error);
}

TEST_CASE("identity dataset: its samples in memory are the same, and lie there as rows",
          "[dataset][host]") {
  const auto rows = test::make_identity_rows(300, 29);
  const auto identity = test::make_identity_dataset(300, 29);
  auto fields = identity->fields();
  fields.push_back({"note", element_type::u8, {}});
  test::check_dataset_contract(rows, 300, fields, [&](sample_index sample, std::size_t place) {
    if (place < 2) return test::read_sample(*identity, sample)[place];
    return std::vector{static_cast<std::byte>(sample.value)};
  });
  CHECK(rows->rows().size() == 3);
}
