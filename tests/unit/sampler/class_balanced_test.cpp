#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/class_balanced.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using numbers = std::vector<std::uint64_t>;
using labels = std::vector<std::int64_t>;

/// Class c of 5 has 1, 4, 16, 64, 256 samples, and they are mixed.
labels skewed_labels() {
  labels all;
  for (std::uint64_t i = 0; i < 341; ++i) {
    const std::uint64_t at = i * 100 % 341;
    all.push_back(at < 1 ? 0 : at < 5 ? 1 : at < 21 ? 2 : at < 85 ? 3 : 4);
  }
  return all;
}

/// The classes of some positions.
numbers classes_of(const numbers& samples, const labels& of) {
  numbers classes;
  for (const std::uint64_t sample : samples)
    classes.push_back(static_cast<std::uint64_t>(of[sample]));
  return classes;
}

std::string refusal(const labels& of, const class_balanced_options& options = {}) {
  return message_of<usage_error>([&] { (void)class_balanced{of, options}; });
}

}  // namespace

TEST_CASE("class balanced: each class comes once in a round, whatever its size",
          "[sampler][host]") {
  const labels of = skewed_labels();
  const sampler order = class_balanced{of, {.seed = 1, .epoch_size = 1000}};
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto classes = classes_of(epoch_of(order, 341, epoch), of);
    CHECK(times_of(classes, 5) == numbers(5, 200));
    for (std::size_t round = 0; round < 1000; round += 5)
      REQUIRE(times_of({classes.begin() + static_cast<std::ptrdiff_t>(round),
                        classes.begin() + static_cast<std::ptrdiff_t>(round + 5)},
                       5) == numbers(5, 1));
  }
}

TEST_CASE("class balanced: each round has all classes, few or many", "[sampler][host]") {
  for (const std::int64_t classes : {1, 2, 63, 64, 65, 300}) {
    INFO(classes << " classes");
    labels of;
    for (std::int64_t i = 0; i < 2 * classes; ++i) of.push_back(i % classes);
    const sampler order = class_balanced{of, {.seed = 2}};
    check_is_pure(order, of.size());
    const auto all = classes_of(epoch_of(order, of.size(), 5), of);
    const numbers first(all.begin(), all.begin() + classes);
    const numbers second(all.begin() + classes, all.end());
    const auto kinds = static_cast<std::uint64_t>(classes);
    CHECK(times_of(first, kinds) == numbers(kinds, 1));
    CHECK(times_of(second, kinds) == numbers(kinds, 1));
    CHECK((classes < 3 || first != second));
  }
}

TEST_CASE("class balanced: rounds continue over the epochs' ends", "[sampler][host]") {
  const labels of = skewed_labels();
  const sampler whole = class_balanced{of, {.seed = 1, .epoch_size = 700}};
  const sampler cut = class_balanced{of, {.seed = 1, .epoch_size = 7}};
  numbers joined;
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch)
    for (const std::uint64_t sample : epoch_of(cut, 341, epoch)) joined.push_back(sample);
  CHECK(joined == epoch_of(whole, 341, 0));
}

TEST_CASE("class balanced: no sample comes again before all others of its class",
          "[sampler][host]") {
  const labels of = skewed_labels();
  const numbers sizes = times_of(numbers(of.begin(), of.end()), 5);
  REQUIRE(sizes == numbers{1, 4, 16, 64, 256});
  const sampler order = class_balanced{of, {.seed = 3, .epoch_size = 333}};
  std::map<std::int64_t, numbers> of_class;
  for (std::uint64_t epoch = 0; epoch < 12; ++epoch)
    for (const std::uint64_t sample : epoch_of(order, 341, epoch))
      of_class[of[sample]].push_back(sample);
  for (const auto& [label, samples] : of_class) {
    const auto size = static_cast<std::ptrdiff_t>(sizes[static_cast<std::size_t>(label)]);
    numbers pass_before;
    for (auto pass = samples.begin(); samples.end() - pass >= size; pass += size) {
      const numbers in_pass(pass, pass + size);
      const numbers times = times_of(in_pass, 341);
      REQUIRE(*std::max_element(times.begin(), times.end()) == 1);
      if (size > 4) REQUIRE(in_pass != pass_before);
      pass_before = in_pass;
    }
  }
}

TEST_CASE("class balanced: every order of the classes in a round is as likely, by chi-square",
          "[sampler][host]") {
  const sampler order = class_balanced{labels{0, 1, 2}, {.seed = 8, .epoch_size = 3 * 6000}};
  const auto classes = epoch_of(order, 3, 0);  // sample i is class i
  numbers orders;
  for (std::size_t at = 0; at < classes.size(); at += 3)
    orders.push_back(classes[at] * 2 + (classes[at + 1] > classes[at + 2] ? 1 : 0));
  CHECK(std::abs(deviation(times_of(orders, 6))) < 3.5);
}

TEST_CASE("class balanced: a position's sample is the same in every cut", "[sampler][host]") {
  check_is_pure(class_balanced{skewed_labels(), {.seed = 3}}, 341);
  check_is_pure(class_balanced{labels{9}, {.epoch_size = 100}}, 1);
}

TEST_CASE("class balanced: distant epochs, and a billion positions, are a matter of arithmetic",
          "[sampler][host]") {
  const labels of = skewed_labels();
  const sampler order = class_balanced{of, {.seed = 1, .epoch_size = 1'000'000'000}};
  CHECK(order.size(341) == 1'000'000'000);
  const auto classes = classes_of(run_of(order, 341, 1'000'000, 999'999'000, 1000), of);
  CHECK(times_of(classes, 5) == numbers(5, 200));
}

TEST_CASE("class balanced: labels may have any values and any integer type", "[sampler][host]") {
  const auto order_of = [](const auto& of) {
    return epoch_of(class_balanced{of, {.seed = 6}}, of.size(), 2);
  };
  const auto expected = order_of(labels{0, 1, 2, 0, 1, 0, 2});
  CHECK(order_of(std::vector<std::uint8_t>{0, 1, 2, 0, 1, 0, 2}) == expected);
  CHECK(order_of(std::vector<std::int32_t>{-5, -1, 900, -5, -1, -5, 900}) == expected);
  CHECK(class_balanced{labels{INT64_MIN, INT64_MAX, 7}}.classes() == 3);
  CHECK(class_balanced{skewed_labels()}.table_bytes() == 4 * 341);
  const auto data =
      make_memory_dataset({own("image", std::vector<std::uint8_t>(14), {2}),
                           own("label", std::vector<std::uint16_t>{0, 1, 2, 0, 1, 0, 2})});
  CHECK(epoch_of(class_balanced{data, "label", {.seed = 6}}, 7, 2) == expected);
}

TEST_CASE("class balanced: invalid options are refused, with the reason", "[sampler][host]") {
  CHECK(refusal({}) == "class_balanced: there are no labels; give it one for each sample");
  CHECK(refusal({0, 1, 3}, {.classes = 4}) ==
        "class_balanced: no sample has label 2, and 1 of 4 classes have none; leave "
        "class_balanced_options::classes 0 to draw from the classes that have samples");
  CHECK(refusal({0, 1, 3, 2}, {.classes = 3}) ==
        "class_balanced: the label of sample 2 is 3, but class_balanced_options::classes is 3; "
        "labels are 0 to 2");
  CHECK(refusal({0, 1, 2, -1}, {.classes = 3}) ==
        "class_balanced: the label of sample 3 is -1, but class_balanced_options::classes is 3; "
        "labels are 0 to 2");
  CHECK(refusal({0, 2, 1}, {.classes = 3}) == "[nothing was thrown]");
  const sampler order = class_balanced{labels{0, 1}};
  CHECK(message_of<usage_error>([&] { (void)order.size(3); }) ==
        "class_balanced: there are 2 labels, but the dataset has 3 samples; give it those of this "
        "dataset");
}

// The order is stable across versions of feedline, platforms and compilers: see shuffle_test.cpp.
TEST_CASE("class balanced: the order of given labels is the one it has always been",
          "[sampler][host]") {
  const sampler order = class_balanced{skewed_labels(), {.seed = 42}};
  labels many;
  for (std::int64_t i = 0; i < 1003; ++i) many.push_back(i * 7 % 101);
  CHECK(run_of(class_balanced{many, {.seed = 42}}, 1003, 3, 30, 8) ==
        numbers{110, 783, 797, 915, 386, 916, 854, 159});
  CHECK(run_of(order, 341, 3, 30, 8) == numbers{188, 273, 111, 0, 287, 307, 266, 0});
}
