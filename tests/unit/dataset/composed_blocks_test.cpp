/// The blocks of datasets that are made of others.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/sampler/random_split.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/plain_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

dataset_ptr encoded_rows(std::uint64_t samples, std::uint64_t rows,
                         block_filter filter = block_filter::other) {
  const auto script = std::make_shared<encoded_script>();
  script->filter = filter;
  return make_encoded(make_identity_rows(samples, 5), rows, script);
}

/// With fields of other names.
dataset_ptr with_names(const dataset_ptr& of, const std::string& prefix) {
  std::vector<selected_field> fields;
  for (const field& one : of->fields()) fields.push_back({one.name, prefix + one.name});
  return select(of, fields);
}

dataset_ptr halves(const dataset_ptr& of) {
  return map(of, {{"half", element_type::u64, {}}, {"more", element_type::u8, {}}},
             [](sample_index sample, auto, std::span<const std::span<std::byte>> out) {
               std::ranges::fill(out[0], static_cast<std::byte>(sample.value / 2));
               out[1][0] = std::byte{3};
             });
}

class varying final : public dataset {
 public:
  std::uint64_t size() const override { return 20; }
  std::vector<field> fields() const override { return {{"draw", element_type::u8, {}}}; }
  bool varies_by_epoch() const override { return true; }
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i)
      request.out[0][i] = static_cast<std::byte>(request.context[i].random()());
  }
};

}  // namespace

TEST_CASE("blocks of a zip: those of all parts, and rows of fields that are not stored in blocks",
          "[dataset][host]") {
  const std::uint64_t rows = GENERATE(1U, 5U);
  const dataset_ptr one = encoded_rows(20, rows);
  const dataset_ptr plain = halves(make_identity_rows(20, 5));
  const auto joined = zip({plain, one, with_names(encoded_rows(20, rows), "other ")});
  check_encoded(*joined);
  const auto blocks = joined->encoded();
  CHECK(blocks->rows() == rows);
  CHECK(blocks->steps(0).empty());
  CHECK(blocks->steps(1).empty());
  CHECK(blocks->steps(2).size() == 1);
  CHECK(blocks->steps(5).size() == 1);
}

TEST_CASE("blocks of a zip: rows after the last sample are zeros", "[dataset][host]") {
  const auto joined = zip({halves(make_identity_rows(20, 5)), encoded_rows(20, 6)});
  const std::vector<std::byte> last = decoded_block(*joined->encoded(), 1, 3, 1);
  CHECK(last == std::vector<std::byte>{std::byte{3}, std::byte{3}, {}, {}, {}, {}});
}

TEST_CASE("blocks of a zip: none where parts' blocks differ", "[dataset][host]") {
  const dataset_ptr one = encoded_rows(20, 1);
  CHECK_FALSE(zip({one, with_names(encoded_rows(20, 2), "other ")})->encoded());
  CHECK_FALSE(zip({make_identity_rows(20, 5), halves(one)})->encoded());
}

TEST_CASE(
    "blocks of a zip: rows that vary by epoch are read for their sample, if blocks are samples",
    "[dataset][host]") {
  const auto drawn = std::make_shared<const varying>();
  CHECK_FALSE(zip({encoded_rows(20, 2), drawn})->encoded());
  const dataset_ptr joined = zip({encoded_rows(20, 1), drawn});
  const auto blocks = joined->encoded();
  REQUIRE(blocks);
  const std::size_t field = joined->fields().size() - 1;
  CHECK(blocks->steps(field).empty());
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    const sample_context context{
        .seed = 3, .epoch = epoch, .sample = {70 + epoch}, .position = position{9}};
    std::byte row{};
    CHECK(blocks->read(field, 4, {&row, 1}, context).bytes == 1);
    CHECK(row == static_cast<std::byte>(context.random()()));
  }
}

TEST_CASE("blocks of a subset: its samples', where a block is a sample", "[dataset][host]") {
  const dataset_ptr one = encoded_rows(20, 1);
  check_encoded(*subset(one, {{7}, {0}, {19}, {7}, {3}}));
  check_encoded(*subset(one, sample_index{5}, 9));
  check_encoded(*subset(subset(one, sample_index{5}, 9), {{8}, {1}}));
  CHECK_FALSE(subset(encoded_rows(20, 2), sample_index{4}, 4)->encoded());
  CHECK_FALSE(subset(make_identity_rows(20, 5), {{3}})->encoded());
}

TEST_CASE("blocks of selected fields: in the order wanted, and none where none is encoded",
          "[dataset][host]") {
  const dataset_ptr all = encoded_rows(20, GENERATE(1U, 4U));
  const auto fields = all->fields();
  REQUIRE(fields.size() == 3);
  check_encoded(*select(all, {fields[2].name, fields[0].name}));
  check_encoded(*select(all, {{fields[1].name, "called otherwise"}}));
  CHECK(select(all, {fields[2].name, fields[0].name})->encoded()->steps(0).empty());
  CHECK_FALSE(select(all, {fields[2].name})->encoded());
}

TEST_CASE("blocks of a concatenation: its parts', where they are encoded alike",
          "[dataset][host]") {
  const auto deflated = [](std::uint64_t samples, std::uint64_t rows = 1) {
    return encoded_rows(samples, rows, block_filter::deflate);
  };
  check_encoded(*concatenate({deflated(20), deflated(1), deflated(7)}));
  CHECK(concatenate({deflated(20), deflated(7)})->encoded()->max_stored_bytes(0) ==
        deflated(20)->encoded()->max_stored_bytes(0));
  CHECK_FALSE(concatenate({deflated(20), encoded_rows(7, 1, block_filter::zstd)})->encoded());
  CHECK_FALSE(concatenate({encoded_rows(20, 1), encoded_rows(7, 1)})->encoded());  // its own form
  CHECK_FALSE(concatenate({deflated(20), deflated(20, 2)})->encoded());
  CHECK_FALSE(concatenate({deflated(20), make_identity_rows(4, 5)})->encoded());
}

TEST_CASE(
    "blocks of rows in files: rows that are stored as they are offer none, and come as rows "
    "beside encoded ones",
    "[dataset][host]") {
  const dataset_ptr plain = make_plain_rows(20, 4096);
  CHECK_FALSE(plain->encoded());
  const std::uint64_t rows = GENERATE(1U, 5U);
  const auto beside = zip({plain, encoded_rows(20, rows)});
  REQUIRE(beside->encoded());
  check_encoded(*beside);
  CHECK(beside->encoded()->rows() == rows);
}
