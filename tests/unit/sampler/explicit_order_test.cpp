#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/sampler/explicit_order.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using numbers = std::vector<std::uint64_t>;

template <class Index>
dataset_ptr of_indices(std::vector<Index> values, std::vector<std::uint64_t> shape = {}) {
  return make_memory_dataset({own("order", std::move(values), std::move(shape))});
}

std::string refusal(auto&& call) {
  return message_of<usage_error>(call);
}

}  // namespace

TEST_CASE("explicit order: one order serves all epochs, and may repeat and leave out",
          "[sampler][host]") {
  const sampler order = explicit_order{numbers{5, 0, 0, 9}};
  CHECK(order.size(10) == 4);
  CHECK(epoch_of(order, 10, 0) == numbers{5, 0, 0, 9});
  CHECK(epoch_of(order, 10, 7) == numbers{5, 0, 0, 9});
  CHECK(run_of(order, 10, 1, 2, 2) == numbers{0, 9});
}

TEST_CASE("explicit order: with a row an epoch, the rows repeat", "[sampler][host]") {
  const sampler order = explicit_order{std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}, 3};
  CHECK(order.size(6) == 2);
  CHECK(epoch_of(order, 6, 0) == numbers{0, 1});
  CHECK(epoch_of(order, 6, 2) == numbers{4, 5});
  CHECK(epoch_of(order, 6, 4) == numbers{2, 3});
}

TEST_CASE("explicit order: indices take 4 bytes each, or 8 where one needs them",
          "[sampler][host]") {
  CHECK(explicit_order{numbers{1, 2, UINT32_MAX}}.table_bytes() == 12);
  const explicit_order wide{numbers{1, 2, std::uint64_t{1} << 40}};
  CHECK(wide.table_bytes() == 24);
  CHECK(epoch_of(wide, (std::uint64_t{1} << 40) + 1, 0) == numbers{1, 2, std::uint64_t{1} << 40});
}

TEST_CASE("explicit order: a dataset's field gives one order, or one for each epoch",
          "[sampler][host]") {
  const explicit_order one{of_indices(std::vector<std::int64_t>{3, 1, 2}), "order"};
  CHECK(epoch_of(one, 4, 5) == numbers{3, 1, 2});
  const explicit_order rows{of_indices(std::vector<std::uint16_t>{3, 1, 2, 0, 0, 1}, {2}), "order"};
  CHECK(epoch_of(rows, 4, 0) == numbers{3, 1});
  CHECK(epoch_of(rows, 4, 2) == numbers{0, 1});
}

TEST_CASE("explicit order: a NumPy file gives the order", "[sampler][host]") {
  const temporary_directory folder;
  const std::string path = folder.write(
      "order.npy",
      npy_bytes(npy_dictionary("<i8", "(3,)"), memory_of(std::vector<std::int64_t>{7, 3, 9})));
  const explicit_order order{open_npy(path, "order"), "order"};
  CHECK(epoch_of(order, 10, 0) == numbers{7, 3, 9});
}

TEST_CASE("explicit order: a position's sample is the same in every cut", "[sampler][host]") {
  numbers indices;
  for (std::uint64_t i = 0; i < 600; ++i) indices.push_back(i * i % 97);
  check_is_pure(explicit_order{indices, 3}, 97);
}

TEST_CASE("explicit order: an index outside of the dataset is refused, with its position",
          "[sampler][host]") {
  const std::string none =
      " is not one of the dataset's 10 samples, which are numbered from 0; correct the order, or "
      "use "
      "it with the dataset that it was made for";
  const explicit_order one{numbers{5, 12, 0, 99}};
  CHECK(refusal([&] { (void)one.size(10); }) == "explicit_order: index 12 at position 1" + none);
  CHECK(refusal([&] { (void)run_of(one, 10, 0, 0, 1); }) ==
        "explicit_order: index 12 at position 1" + none);
  const explicit_order rows{numbers{5, 1, 0, 10}, 2};
  CHECK(refusal([&] { (void)rows.size(10); }) ==
        "explicit_order: index 10 at position 1 of row 1" + none);
  CHECK(refusal([&] {
          (void)explicit_order{of_indices(std::vector<std::int32_t>{5, 1, -2}), "order"};
        }) == "explicit_order: index 2 of field \"order\" is -2; samples are numbered from 0");
}

TEST_CASE("explicit order: an invalid order is refused, with the reason", "[sampler][host]") {
  CHECK(refusal([] { (void)explicit_order{numbers{}}; }) ==
        "explicit_order: there are no indices; give it some");
  const std::string each = " epochs' orders; give each epoch as many as any other";
  CHECK(refusal([] {
          (void)explicit_order{numbers{1, 2, 3}, 2};
        }) == "explicit_order: 3 indices should be 2" + each);
  CHECK(refusal([] {
          (void)explicit_order{numbers{1, 2, 3}, 0};
        }) == "explicit_order: 3 indices should be 0" + each);
}

TEST_CASE("explicit order: a field that holds no order is refused, with the reason",
          "[sampler][host]") {
  CHECK(refusal([] {
          (void)explicit_order{nullptr, "order"};
        }) == "explicit_order: the dataset is null");
  CHECK(refusal([] {
          (void)explicit_order{of_indices(std::vector<float>{1, 2}), "order"};
        }) ==
        "explicit_order: field order: float32[] cannot be used; it must have an integer a "
        "sample, or one array of them");
  CHECK(refusal([] {
          (void)explicit_order{of_indices(std::vector<std::uint8_t>(8), {2, 2}), "order"};
        }) ==
        "explicit_order: field order: uint8[2, 2] cannot be used; it must have an integer a "
        "sample, or one array of them");
  CHECK(refusal([] {
          (void)explicit_order{of_indices(std::vector<std::uint64_t>{1, std::uint64_t{1} << 63}),
                               "order"};
        }) ==
        "explicit_order: field \"order\" has 9223372036854775808 at index 1; it may have "
        "integers below 2^63");
  CHECK(refusal([] {
          (void)explicit_order{of_indices(numbers{1}), "orders"};
        }).find("explicit_order: ") == 0);
}
