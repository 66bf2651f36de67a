#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/weighted.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using numbers = std::vector<std::uint64_t>;

/// Weights of all sizes, some of them 0.
std::vector<double> mixed_weights(std::size_t count) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < count; ++i)
    weights.push_back(i % 5 == 3 ? 0 : std::pow(1.5, static_cast<double>(i % 11)));
  return weights;
}

std::string refusal(const std::vector<double>& weights, const weighted_options& options = {}) {
  return message_of<usage_error>([&] { (void)weighted{weights, options}; });
}

constexpr double limit = 3.5;

}  // namespace

TEST_CASE("weighted: samples come in proportion to their weights, by chi-square",
          "[sampler][host]") {
  for (const std::size_t count : {2U, 3U, 7U, 100U, 1000U}) {
    INFO(count << " weights");
    const auto weights = mixed_weights(count);
    const sampler order = weighted{weights, {.seed = count, .epoch_size = count * 1000}};
    CHECK(std::abs(deviation(times_of(epoch_of(order, count, 0), count), weights)) < limit);
    CHECK(std::abs(deviation(times_of(epoch_of(order, count, 1), count), weights)) < limit);
  }
}

TEST_CASE("weighted: neighbours in an epoch, and one position over the epochs, are independent",
          "[sampler][host]") {
  const std::vector<double> weights{1, 2, 3, 4};
  std::vector<double> of_pairs;
  for (const double first : weights)
    for (const double second : weights) of_pairs.push_back(first * second);
  const sampler order = weighted{weights, {.seed = 5, .epoch_size = 40'000}};
  const auto epoch = epoch_of(order, 4, 0);
  numbers in_epoch;
  for (std::size_t i = 0; i + 1 < epoch.size(); i += 2)
    in_epoch.push_back(epoch[i] * 4 + epoch[i + 1]);
  CHECK(std::abs(deviation(times_of(in_epoch, 16), of_pairs)) < limit);
  numbers over_epochs;
  for (std::uint64_t i = 0; i < 40'000; i += 2)
    over_epochs.push_back(run_of(order, 4, i, 7, 1).front() * 4 +
                          run_of(order, 4, i + 1, 7, 1).front());
  CHECK(std::abs(deviation(times_of(over_epochs, 16), of_pairs)) < limit);
}

TEST_CASE("weighted: a sample of weight 0 is never drawn, and one alone always",
          "[sampler][host]") {
  std::vector<double> weights(1000, 0);
  weights[617] = 1e-300;
  const sampler order = weighted{weights, {.epoch_size = 5000}};
  CHECK(epoch_of(order, 1000, 0) == numbers(5000, 617));
  const sampler others = weighted{mixed_weights(100), {.epoch_size = 100'000}};
  const auto times = times_of(epoch_of(others, 100, 0), 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK((times[i] == 0) == (i % 5 == 3));
}

TEST_CASE("weighted: a position's sample is the same in every cut, in any thread",
          "[sampler][host]") {
  check_is_pure(weighted{mixed_weights(500), {.seed = 3, .epoch_size = 777}}, 500);
  check_is_pure(weighted{std::vector<double>{2}}, 1);
}

TEST_CASE("weighted: an epoch is as long as asked for, by default as there are weights",
          "[sampler][host]") {
  const std::vector<double> weights{1, 2, 3};
  CHECK(weighted{weights}.size(3) == 3);
  CHECK(weighted{weights, {.epoch_size = 1'000'000'000'000}}.size(3) == 1'000'000'000'000);
  CHECK(weighted{weights}.table_bytes() == 24);
}

TEST_CASE("weighted: distant positions of a long epoch are drawn like the first",
          "[sampler][host]") {
  const auto weights = mixed_weights(50);
  const sampler order = weighted{weights, {.seed = 1, .epoch_size = UINT64_MAX}};
  const auto run = run_of(order, 50, 12, UINT64_MAX - 50'000, 50'000);
  CHECK(std::abs(deviation(times_of(run, 50), weights)) < limit);
}

TEST_CASE("weighted: only the proportions of weights matter, exactly", "[sampler][host]") {
  const auto weights = mixed_weights(200);
  auto larger = weights;
  for (double& weight : larger) weight *= 0x1p700;
  CHECK(epoch_of(weighted{weights, {.seed = 1}}, 200, 0) ==
        epoch_of(weighted{larger, {.seed = 1}}, 200, 0));
  CHECK(epoch_of(weighted{weights, {.seed = 1}}, 200, 0) !=
        epoch_of(weighted{weights, {.seed = 2}}, 200, 0));
  CHECK(epoch_of(weighted{weights, {.seed = 1}}, 200, 0) !=
        epoch_of(weighted{weights, {.seed = 1}}, 200, 1));
}

TEST_CASE("weighted: weights are read from a dataset's field, also of integers",
          "[sampler][host]") {
  const std::vector<double> weights{1, 0, 3, 2, 5};
  const auto data =
      make_memory_dataset({own("image", std::vector<std::uint8_t>(20), {4}), own("f64", weights),
                           own("f32", std::vector<float>{1, 0, 3, 2, 5}),
                           own("u8", std::vector<std::uint8_t>{1, 0, 3, 2, 5})});
  const auto expected = epoch_of(weighted{weights, {.seed = 4, .epoch_size = 50}}, 5, 0);
  for (const std::string name : {"f64", "f32", "u8"})
    CHECK(epoch_of(weighted{data, name, {.seed = 4, .epoch_size = 50}}, 5, 0) == expected);
}

TEST_CASE("weighted: invalid options are refused, with the reason", "[sampler][host]") {
  CHECK(refusal({1, -1}) ==
        "weighted: weight 1 is -1.000000; a weight is a finite number from 0 up");
  const sampler order = weighted{std::vector<double>{1, 2, 3}};
  const std::string other =
      "weighted: there are 3 weights, but the dataset has 4 samples; give it those of this dataset";
  CHECK(message_of<usage_error>([&] { (void)order.size(4); }) == other);
  CHECK(message_of<usage_error>([&] { (void)run_of(order, 4, 0, 0, 1); }) == other);
  CHECK(refusal({1, 2}, {.replacement = false}) ==
        "weighted_options::epoch_size is 0; without replacement, say how many samples an epoch "
        "draws, 1 to 2");
  CHECK(refusal({1, 0, 2}, {.epoch_size = 3, .replacement = false}) ==
        "weighted_options::epoch_size is 3, but 2 weights are above 0; without replacement, draw "
        "no more than that");
}

// The order is stable across versions of feedline, platforms and compilers: see shuffle_test.cpp.
TEST_CASE("weighted: the order of given weights is the one it has always been", "[sampler][host]") {
  const auto weights = mixed_weights(1003);
  const sampler with = weighted{weights, {.seed = 42}};
  CHECK(run_of(with, 1003, 3, 30, 8) == numbers{406, 525, 994, 21, 360, 940, 626, 626});
  const sampler without = weighted{weights, {.seed = 42, .epoch_size = 100, .replacement = false}};
  CHECK(run_of(without, 1003, 3, 30, 8) == numbers{965, 664, 107, 329, 534, 174, 295, 87});
}
