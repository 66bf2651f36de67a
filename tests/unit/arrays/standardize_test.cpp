#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using test::message_of;

namespace {

/// An array [time 2, level 3, x 4] in memory.
template <class T>
array_ptr array_of(std::vector<T> values, element_type type) {
  const auto held = std::make_shared<std::vector<T>>(std::move(values));
  return make_memory_array(
      {.name = "t", .type = type, .shape = {2, 3, 4}, .dimensions = {"time", "level", "x"}},
      std::as_bytes(std::span{*held}), held);
}

std::vector<std::int16_t> counted() {
  std::vector<std::int16_t> values;
  for (std::int16_t i = 0; i < 24; ++i) values.push_back(static_cast<std::int16_t>(7 * i - 50));
  return values;
}

std::vector<float> read_all(const array_ptr& array) {
  std::vector<float> values(24);
  array->read_all(std::as_writable_bytes(std::span{values}));
  return values;
}

const std::vector<double> means{1.25, -3, 40};
const std::vector<double> deviations{0.3, 2, 17};

}  // namespace

TEST_CASE("standardize: each index of the axis has its mean and deviation", "[dataset][host]") {
  const auto made = standardize(array_of(counted(), element_type::i16),
                                {.mean = means, .stddev = deviations, .axis = "level"});
  CHECK(made->spec().type == element_type::f32);
  const auto values = read_all(made);
  for (std::size_t i = 0; i < 24; ++i) {
    const std::size_t level = i / 4 % 3;
    const double wanted = (counted()[i] - means[level]) / deviations[level];
    CHECK(values[i] == static_cast<float>(wanted));
  }
}

TEST_CASE("standardize: windows have the numbers of the indices that they hold",
          "[dataset][host]") {
  const auto made =
      standardize(array_of(counted(), element_type::i16),
                  {.mean = means, .stddev = {2}, .axis = 1, .type = element_type::f64});
  const auto samples =
      make_windows({{.axis = "level", .size = 2}, {.axis = "x", .size = 2, .step = 3}},
                   {{.name = "t", .arrays = {made}}});
  REQUIRE(samples->size() == 2);
  std::vector<double> found(8);
  const std::vector<sample_index> second{sample_index{1}};
  const std::vector<std::span<std::byte>> out{std::as_writable_bytes(std::span{found})};
  samples->read(second, out);
  std::size_t at = 0;
  for (const std::size_t time : {0U, 1U})
    for (const std::size_t level : {1U, 2U})
      for (const std::size_t x : {0U, 3U})
        CHECK(found[at++] == (counted()[time * 12 + level * 4 + x] - means[level]) / 2);
}

TEST_CASE("standardize: one mean and deviation are for all values", "[dataset][host]") {
  const auto values =
      read_all(standardize(array_of(counted(), element_type::i16), {.mean = {3}, .stddev = {0.5}}));
  for (std::size_t i = 0; i < 24; ++i)
    CHECK(values[i] == static_cast<float>((counted()[i] - 3) / 0.5));
  const auto same = read_all(standardize(array_of(counted(), element_type::i16), {}));
  CHECK(same[5] == static_cast<float>(counted()[5]));
}

TEST_CASE("standardize: NaN is kept, replaced after the division, or refused", "[dataset][host]") {
  std::vector<float> values(24, 5);
  values[13] = std::numeric_limits<float>::quiet_NaN();
  const auto from = array_of(values, element_type::f32);
  CHECK(std::isnan(read_all(standardize(from, {.mean = {3}}))[13]));
  const auto replaced =
      read_all(standardize(from, {.mean = {3}, .nan = nan_rule::replace, .replacement = -1}));
  CHECK(replaced[13] == -1);
  CHECK(replaced[12] == 2);
  const auto refusing = standardize(from, {.mean = {3}, .nan = nan_rule::refuse});
  CHECK(message_of<dataset_error>([&] { (void)read_all(refusing); }).find("holds NaN") !=
        std::string::npos);
  // Only the samples that have it are unreadable, and the error names them.
  const auto samples = make_windows({{"time"}}, {{.name = "t", .arrays = {refusing}}});
  std::vector<float> found(24);
  const std::vector<sample_index> both{sample_index{0}, sample_index{1}};
  const std::vector<std::span<std::byte>> out{std::as_writable_bytes(std::span{found})};
  try {
    samples->read(both, out);
    FAIL("NaN was read");
  } catch (const dataset_error& failure) {
    CHECK(failure.where().sample == 1U);
    CHECK(failure.where().field == "t");
  }
}

TEST_CASE("standardize: what cannot be right is refused", "[dataset][host]") {
  const auto from = array_of(counted(), element_type::i16);
  const auto refusal = [&](const standardize_options& options) {
    return message_of<usage_error>([&] { (void)standardize(from, options); });
  };
  const auto says = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(says(refusal({.mean = means}), "mean has 3 numbers; set the axis"));
  CHECK(says(refusal({.mean = means, .axis = "x"}),
             "mean has 3 numbers, but axis 'x' has 4 indices"));
  CHECK(says(refusal({.mean = {1}, .axis = "y"}), "has no axis 'y'"));
  CHECK(says(refusal({.stddev = {0}}), "stddev[0] is 0; give finite numbers above 0"));
  CHECK(says(refusal({.stddev = {-1}}), "stddev[0] is -1"));
  CHECK(says(refusal({.mean = {std::nan("")}}), "mean[0] is nan"));
  CHECK(says(refusal({.type = element_type::f16}), "type is float16"));
  CHECK(says(refusal({.nan = static_cast<nan_rule>(9)}), "standardize_options::nan is 9"));
  CHECK(says(message_of<usage_error>([] { (void)standardize(nullptr, {}); }), "there is no array"));
  CHECK(says(message_of<usage_error>([] {
               (void)standardize(array_of(std::vector<std::uint8_t>(24), element_type::boolean),
                                 {});
             }),
             "booleans"));
  const auto held = std::make_shared<std::vector<std::int16_t>>(counted());
  const auto packed = make_memory_array(
      {.name = "t", .type = element_type::i16, .shape = {24}, .packing = {.missing = {-50}}},
      std::as_bytes(std::span{*held}), held);
  CHECK(says(message_of<usage_error>([&] { (void)standardize(packed, {}); }), "unpack it first"));
}
