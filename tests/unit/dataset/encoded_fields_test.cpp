#include "dataset/encoded_fields.hpp"

#include <feedline/dataset/select.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/encoded_check.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace {

constexpr std::uint64_t row_count = 10;

/// Rows of zeros that take no memory.
class zero_rows final : public detail::field_rows {
 public:
  explicit zero_rows(std::size_t row_bytes)
      : field_rows{{.rows = row_count, .row_bytes = row_bytes}} {}
  void read(std::span<const sample_index> samples, std::byte* out) const override {
    std::fill_n(out, samples.size() * row_bytes(), std::byte{});
  }
};

/// Blocks of zeros, stored as one byte.
class packed_zeros final : public detail::encoded_rows {
 public:
  explicit packed_zeros(std::uint64_t rows) : rows_{rows} {}

  std::uint64_t rows_per_block() const noexcept override { return rows_; }
  std::span<const block_step> steps() const noexcept override { return steps_; }
  encoded_blocks::stored_block stored(std::uint64_t) const noexcept override {
    return {.bytes = 1};
  }
  std::size_t max_stored_bytes() const noexcept override { return 1; }
  void read(std::uint64_t, std::span<std::byte> out) const override { out[0] = std::byte{1}; }
  void decode(std::span<const std::byte>, std::uint32_t, std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{});
  }

 private:
  std::uint64_t rows_;
  std::vector<block_step> steps_{1};
};

/// @param rows_per_block 0: it is not stored in blocks.
detail::rows_field field_of(const std::string& name, std::size_t row_bytes,
                            std::uint64_t rows_per_block) {
  return {{name, element_type::u8, {row_bytes}},
          std::make_shared<const zero_rows>(row_bytes),
          rows_per_block == 0 ? nullptr : std::make_shared<const packed_zeros>(rows_per_block)};
}

/// A dataset of a user's own with blocks, which knows nothing of `select`.
class own_blocks final : public dataset {
 public:
  explicit own_blocks(dataset_ptr of) : of_{std::move(of)} {}
  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  void do_read(const read_request& request) const override { of_->read(request); }
  std::shared_ptr<const encoded_blocks> encoded() const override { return of_->encoded(); }

 private:
  dataset_ptr of_;
};

}  // namespace

TEST_CASE(
    "encoded fields: blocks are those of the field whose blocks take most, the first of "
    "equals",
    "[dataset][host]") {
  const auto rows_of = [](std::vector<detail::rows_field> fields) {
    const auto blocks = detail::make_encoded_fields(std::move(fields));
    return blocks ? blocks->rows() : 0;
  };
  CHECK(rows_of({field_of("a", 5, 0)}) == 0);
  CHECK(rows_of({field_of("a", 5, 0), field_of("b", 1, 3)}) == 3);
  CHECK(rows_of({field_of("a", 5, 2), field_of("b", 3, 4)}) == 4);
  CHECK(rows_of({field_of("b", 3, 4), field_of("a", 5, 2)}) == 4);
  CHECK(rows_of({field_of("a", 4, 2), field_of("b", 2, 4)}) == 2);
  CHECK(rows_of({field_of("b", 2, 4), field_of("a", 4, 2)}) == 4);
}

TEST_CASE("encoded fields: there are no blocks of 4 GiB and more, of any field",
          "[dataset][host]") {
  constexpr std::uint64_t giga = std::uint64_t{1} << 30;
  CHECK(detail::make_encoded_fields({field_of("a", 4, giga - 1)}));
  CHECK(!detail::make_encoded_fields({field_of("a", 4, giga)}));
  CHECK(!detail::make_encoded_fields({field_of("a", 4, 2), field_of("b", 2 * giga, 0)}));
  CHECK(detail::make_encoded_fields({field_of("a", 4, 2), field_of("b", 2 * giga - 1, 0)}));
  CHECK(!detail::make_encoded_fields({field_of("a", 4, 4), field_of("b", giga << 33, 0)}));
}

TEST_CASE(
    "encoded fields: fields that are not stored in blocks come as rows, with zeros after the end",
    "[dataset][host]") {
  std::vector<std::uint8_t> values(row_count * 3, 7);
  auto plain = detail::rows_in_memory(own("plain", std::move(values), {3}));
  const auto data = detail::make_rows_dataset("test", {std::move(plain), field_of("a", 5, 4)});
  test::check_encoded(*data);
  const auto blocks = data->encoded();
  CHECK(blocks->steps(0).empty());
  CHECK(blocks->max_stored_bytes(0) == 12);
  std::vector<std::byte> wanted(12, std::byte{7});
  std::fill(wanted.begin() + 6, wanted.end(), std::byte{});
  CHECK(test::stored_bytes(*blocks, 0, 2) == wanted);
  std::vector<std::byte> out(12);
  CHECK(message_of<dataset_error>([&] {
          blocks->decode(0, std::vector<std::byte>(11), {.bytes = 11}, out);
        }) == "field 'plain': a block of rows has 11 bytes, but should have 12");
}

TEST_CASE("encoded fields: names and fields may be chosen, and zipped with others",
          "[dataset][host]") {
  const auto rows = detail::make_rows_dataset("test", {field_of("a", 5, 4), field_of("b", 3, 0)});
  const dataset_ptr data = std::make_shared<const own_blocks>(rows);
  const auto renamed = select(data, {{"a", "x"}, {"b", "y"}});
  REQUIRE(renamed->encoded());
  test::check_encoded(*renamed);
  test::check_encoded(*select(data, {"b", "a"}));
  test::check_encoded(*select(data, {"a"}));
  CHECK(select(data, {"b"})->encoded() == nullptr);
  CHECK(select(rows, {"b", "a"})->encoded()->steps(1).size() == 1);
  test::check_encoded(*zip({rows, renamed}));
}
