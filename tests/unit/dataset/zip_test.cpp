#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/ragged/pad.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/ragged_samples.hpp"

#include <cstdint>
#include <vector>

using namespace feedline;

namespace {

dataset_ptr bytes(const char* name, std::size_t samples) {
  return make_memory_dataset({own(name, std::vector<std::uint8_t>(samples, 7))});
}

}  // namespace

TEST_CASE("zip: samples have the fields of all parts, in order, and keep the dataset contract",
          "[dataset][host]") {
  const auto padded = pad(test::make_telling({3, 0, 5, 1}));
  const auto labels = make_memory_dataset({own("label", std::vector<std::uint8_t>{9, 8, 7, 6})});
  auto fields = padded->fields();
  fields.push_back(labels->fields()[0]);
  test::check_dataset_contract(zip({padded, labels}), 4, fields,
                               [&](sample_index sample, std::size_t place) {
                                 return place < 2 ? test::read_sample(*padded, sample)[place]
                                                  : test::read_sample(*labels, sample)[0];
                               });
}

TEST_CASE("zip: with one dataset, it returns that dataset", "[dataset][host]") {
  const auto only = bytes("x", 3);
  CHECK(zip({only}) == only);
}

TEST_CASE("zip: invalid arguments are refused, with the reason", "[dataset][host]") {
  CHECK(test::message_of<usage_error>([] { (void)zip({}); }) == "zip: there is no dataset");
  CHECK(test::message_of<usage_error>([] {
          (void)zip({bytes("x", 3), nullptr});
        }) == "zip: dataset 1 is null");
  CHECK(test::message_of<usage_error>([] {
          (void)zip({bytes("x", 3), bytes("x", 3)});
        }) == "dataset: fields 0 and 1 are both named 'x'; a batch finds a field by its name");
  CHECK(test::message_of<dataset_error>([] {
          (void)zip({bytes("x", 3), bytes("y", 4)});
        }) ==
        "field 'y': holds 4 samples, but field 'x' holds 3; all fields of a dataset hold the same "
        "number");
}
