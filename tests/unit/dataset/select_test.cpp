#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/tar.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace {

/// Expected content of a selection: the field of this name of the whole.
void check_selection(const dataset_ptr& selected, const dataset_ptr& whole,
                     const std::vector<std::string>& names) {
  std::vector<field> fields;
  std::vector<std::size_t> places;
  const auto all = whole->fields();
  for (const std::string& name : names)
    for (std::size_t place = 0; place < all.size(); ++place)
      if (all[place].name == name) {
        fields.push_back(all[place]);
        places.push_back(place);
      }
  test::check_dataset_contract(selected, whole->size(), fields,
                               [&](sample_index sample, std::size_t place) {
                                 return test::read_sample(*whole, sample)[places[place]];
                               });
}

/// A field that must not be read.
dataset_ptr unreadable(std::uint64_t samples) {
  return test::gated(make_memory_dataset({own("image", std::vector<std::uint8_t>(samples))}),
                     [](auto) { throw std::logic_error{"what was not selected was read"}; });
}

dataset_ptr labels(std::uint64_t samples) {
  std::vector<std::uint16_t> values(samples);
  for (std::size_t i = 0; i < samples; ++i) values[i] = static_cast<std::uint16_t>(i * 3);
  return make_memory_dataset({own("label", std::move(values))});
}

}  // namespace

TEST_CASE("select: fields in another order, of any kind of dataset, keep the contract",
          "[dataset][host]") {
  const auto rows = test::make_identity_rows(40, 9);
  const auto same = map(rows, rows->fields(), [](sample_index, auto in, auto out) {
    for (std::size_t f = 0; f < in.size(); ++f)
      std::copy(in[f].begin(), in[f].end(), out[f].begin());
  });
  const auto both = zip({rows, labels(40)});
  for (const dataset_ptr& whole :
       {rows, test::make_identity_dataset(40, 9), same, both, subset(both, {{3}, {9}, {3}}),
        subset(both, sample_index{4}, 30), concatenate({both, both}), zip({labels(40), same}),
        select(both, {"label", "note", "row", "id"})}) {
    check_selection(select(whole, {"row"}), whole, {"row"});
    check_selection(select(whole, {"row", "id"}), whole, {"row", "id"});
    const auto twice = select(select(whole, {"row", "id"}), {"id"});
    check_selection(twice, whole, {"id"});
  }
  check_selection(select(both, {"label", "id", "row"}), both, {"label", "id", "row"});
  check_selection(select(both, {"row", "label", "id"}), both, {"row", "label", "id"});
}

TEST_CASE("select: fields that are not selected are not read, through all composed datasets",
          "[dataset][host]") {
  const auto whole = zip({unreadable(30), labels(30)});
  for (const dataset_ptr& of :
       {whole, subset(whole, sample_index{10}, 10), subset(whole, {{29}, {1}}),
        concatenate({whole, whole}), select(whole, {"label", "image"}),
        select(whole, {{"image", "picture"}, "label"}),
        zip({whole, test::make_identity_dataset(30, 4)})})
    CHECK_NOTHROW(test::read_sample(*select(of, {"label"}), sample_index{1}));
  CHECK_THROWS_AS(test::read_sample(*select(whole, {"label", "image"}), sample_index{1}),
                  std::logic_error);
}

TEST_CASE("select: members of a tar shard that are not selected are not decoded",
          "[dataset][host]") {
  class refusing final : public decoder {
   public:
    field describe(std::span<const std::byte>) const override {
      return {"", element_type::u8, {1000}};
    }
    void decode(std::span<const std::byte>, const field&, std::span<std::byte>,
                const sample_context&) const override {
      throw std::logic_error{"what was not selected was decoded"};
    }
  };
  const test::temporary_directory folder;
  test::tar_bytes shard;
  shard.add("a.img", "pixels").add("a.cls", "7").add("b.img", "pixels").add("b.cls", "12");
  const auto path = folder.write("shard.tar", shard.ended());
  const auto whole = open_tar({path}, {{"image", {"img"}, std::make_shared<const refusing>()},
                                       {"label", {"cls"}, decode_decimal(element_type::u8)}});
  const auto read = test::read_samples(*select(whole, {"label"}), {{1}, {0}});
  REQUIRE(read.size() == 1);
  CHECK(read[0] == std::vector<std::byte>{std::byte{12}, std::byte{7}});
  CHECK_THROWS_AS(test::read_sample(*whole, sample_index{0}), std::logic_error);
}

TEST_CASE("select: fields get other names, and lie in memory as before", "[dataset][host]") {
  const auto rows = test::make_identity_rows(20, 5);
  const auto called = select(rows, {{"row", "x"}, {"id", "number"}});
  CHECK(called->fields() ==
        std::vector<field>{{"x", element_type::u8, {5}}, {"number", element_type::u64, {}}});
  REQUIRE(called->rows().size() == 2);
  CHECK(called->rows()[0].data() == rows->rows()[1].data());
  CHECK(test::read_sample(*called, sample_index{7}) ==
        test::read_sample(*select(rows, {"row", "id"}), sample_index{7}));
  CHECK(select(called, {{"number", "id"}})->fields().front().name == "id");
  CHECK(select(rows, {"id", "row", "note"}) == rows);
}

TEST_CASE("select: invalid selections are refused", "[dataset][host]") {
  const auto rows = test::make_identity_rows(20, 5);
  const auto refusal = [&](const std::vector<selected_field>& fields) {
    return message_of<usage_error>([&] { (void)select(rows, fields); });
  };
  CHECK(refusal({}) == "select: no field is named: name at least one");
  CHECK(refusal({"row", "label"}) ==
        "select: there is no field 'label'; there are 'id', 'row', 'note'");
  CHECK(refusal({"row", "row"}) == "select: the field 'row' is named twice");
  CHECK(refusal({{"row", "id"}, "id"}) ==
        "select: fields 0 and 1 are both named 'id'; a batch finds a field by its name");
  CHECK(message_of<usage_error>([] { (void)select(nullptr, {"row"}); }) ==
        "select: the dataset is null");
}
