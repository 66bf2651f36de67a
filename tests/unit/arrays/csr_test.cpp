#include <feedline/arrays/csr.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

template <class Value>
array_ptr line(const char* name, std::vector<Value> values) {
  array_spec spec{.name = name, .shape = {values.size()}};
  return make_memory_array(std::move(spec), std::move(values));
}

template <class Value>
std::vector<Value> rows(const dataset_ptr& set, const std::vector<sample_index>& samples) {
  std::vector<Value> values(samples.size() * set->fields()[0].shape[0]);
  const std::span<std::byte> out = std::as_writable_bytes(std::span{values});
  set->read(samples, {&out, 1});
  return values;
}

}  // namespace

TEST_CASE("csr: rows are dense, with values of one column added", "[arrays][host]") {
  const auto set = make_csr_dataset("X", {.data = line<float>("data", {1, 2, 3, 4, 5}),
                                          .indices = line<std::int32_t>("indices", {2, 0, 1, 1, 3}),
                                          .indptr = line<std::int64_t>("indptr", {0, 2, 2, 5}),
                                          .columns = 4});
  CHECK(set->size() == 3);
  CHECK(set->fields() == std::vector{field{"X", element_type::f32, {4}}});
  CHECK(rows<float>(set, {{2}, {0}, {1}, {2}}) ==
        std::vector<float>{0, 7, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0, 7, 0, 5});
}

TEST_CASE("csr: random matrices have the rows that a plain loop makes", "[arrays][host]") {
  std::mt19937 random{5};
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t columns = 1 + random() % 30;
    const std::uint64_t count = 1 + random() % 20;
    std::vector<std::uint16_t> data;
    std::vector<std::uint32_t> indices;
    std::vector<std::uint32_t> indptr{0};
    std::vector<std::uint16_t> dense(count * columns, 0);
    for (std::uint64_t row = 0; row < count; ++row) {
      for (std::uint64_t n = random() % 8; n > 0; --n) {
        data.push_back(static_cast<std::uint16_t>(random()));
        indices.push_back(static_cast<std::uint32_t>(random() % columns));
        auto& sum = dense[row * columns + indices.back()];
        sum = static_cast<std::uint16_t>(sum + data.back());
      }
      indptr.push_back(static_cast<std::uint32_t>(data.size()));
    }
    if (data.empty()) continue;
    const auto set = make_csr_dataset(
        "X", {line("data", data), line("indices", indices), line("indptr", indptr), columns});
    std::vector<sample_index> all;
    for (std::uint64_t row = 0; row < count; ++row) all.push_back({row});
    REQUIRE(rows<std::uint16_t>(set, all) == dense);
  }
}

TEST_CASE("csr: damaged matrices are refused, with what is wrong", "[arrays][host]") {
  const auto data = line<float>("data", {1, 2});
  const auto make = [&](std::vector<std::int32_t> indices, std::vector<std::int32_t> indptr,
                        std::uint64_t columns = 3) {
    return make_csr_dataset("X", {data, line("indices", std::move(indices)),
                                  line("indptr", std::move(indptr)), columns});
  };
  CHECK(contains(message_of<dataset_error>([&] {
                   (void)make({0, 1}, {0, 2, 1});
                 }),
                 "element 2 is 1 after 2"));
  CHECK(contains(message_of<dataset_error>([&] {
                   (void)make({0, 1}, {0, 3});
                 }),
                 "rise to at most 2"));
  CHECK(contains(message_of<dataset_error>([&] {
                   (void)make({0, 1}, {-1, 2});
                 }),
                 "element 0 is -1"));
  CHECK(contains(message_of<usage_error>([&] {
                   (void)make({0}, {0, 1});
                 }),
                 "there are 2 values, but 1 columns of them"));
  CHECK(contains(message_of<usage_error>([&] { (void)make({0, 1}, {0, 2}, 0); }), "X"));
  for (const std::int32_t column : {3, -1}) {
    const auto message = message_of<dataset_error>([&] {
      (void)rows<float>(make({0, column}, {0, 1, 2}), {{0}, {1}});
    });
    CHECK(contains(message, "sample 1"));
    CHECK(contains(message, "has a value in column " + std::to_string(column)));
  }
}
