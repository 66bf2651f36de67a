#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr bool f32 = true;
constexpr bool f64 = false;

template <class Stored>
array_ptr packed(std::vector<Stored> values, value_packing how) {
  array_spec spec{.name = "t", .shape = {values.size()}, .packing = std::move(how)};
  return make_memory_array(std::move(spec), std::move(values));
}

template <class Number>
std::vector<Number> all_of(const array_ptr& array) {
  CHECK(array->spec().type == element_type_of<Number>());
  std::vector<Number> values(array->spec().shape[0]);
  array->read_all(std::as_writable_bytes(std::span{values}));
  return values;
}

}  // namespace

// tests/python/datasets/test_windows.py compares with xarray itself.
TEST_CASE("unpack: a product and a sum are rounded in the type that xarray chooses",
          "[arrays][host]") {
  const std::int16_t stored = 12'345;
  const auto one = [&](value_packing how) {
    return packed<std::int16_t>({stored}, std::move(how));
  };
  const float factor = 0.01F;
  const float offset = 273.15F;
  CHECK(all_of<float>(unpack(one({.scale_factor = {{factor, f32}}, .add_offset = {{offset, f32}}})))
            .front() == static_cast<float>(stored * factor) + offset);
  CHECK(all_of<double>(unpack(one({.scale_factor = {{0.01, f64}}, .add_offset = {{273.15, f64}}})))
            .front() == stored * 0.01 + 273.15);
  CHECK(all_of<float>(unpack(one({.scale_factor = {{factor, f32}}}))).front() == stored * factor);
  CHECK(all_of<double>(unpack(one({.add_offset = {{offset, f32}}}))).front() ==
        stored + double{offset});
  CHECK(all_of<float>(unpack(one({}))).front() == 12'345.0F);
  // Integers of 32 bits do not fit in binary32.
  CHECK(all_of<double>(unpack(packed<std::int32_t>({16'777'217}, {.scale_factor = {{factor, f32}},
                                                                  .add_offset = {{offset, f32}}})))
            .front() == 16'777'217.0 * double{factor} + double{offset});
  CHECK(all_of<float>(unpack(one({.scale_factor = {{0.01, f64}}}), {.type = element_type::f32}))
            .front() == static_cast<float>(stored * 0.01));
}

TEST_CASE("unpack: stored numbers that stand for missing values become NaN, or another number",
          "[arrays][host]") {
  const auto values = packed<std::int16_t>(
      {-1, 5, -32'768}, {.scale_factor = {{2.0F, f32}}, .missing = {-32'768, 5}});
  const auto found = all_of<float>(unpack(values));
  CHECK(found[0] == -2);
  CHECK(std::isnan(found[1]));
  CHECK(std::isnan(found[2]));
  CHECK(all_of<float>(unpack(values, {.missing = -9})) == std::vector<float>{-2, -9, -9});
  const auto nan = packed<float>({std::numeric_limits<float>::quiet_NaN(), 1}, {});
  CHECK(std::isnan(all_of<float>(unpack(nan)).front()));
  CHECK(all_of<float>(unpack(nan, {.missing = 0})) == std::vector<float>{0, 1});
}

TEST_CASE("unpack: _Unsigned gives integers their other meaning", "[arrays][host]") {
  const auto bytes = packed<std::int8_t>({-1, 3}, {.missing = {-1}, .is_unsigned = true});
  const auto found = all_of<float>(unpack(bytes));
  CHECK(std::isnan(found[0]));
  CHECK(found[1] == 3);
  CHECK(all_of<float>(unpack(packed<std::int8_t>({-2}, {.is_unsigned = true}))).front() == 254);
  CHECK(all_of<float>(unpack(packed<std::uint8_t>({254}, {.is_unsigned = false}))).front() == -2);
}

TEST_CASE("unpack: other types than float32 and float64 are refused", "[arrays][host]") {
  CHECK(contains(message_of<usage_error>([] {
                   (void)unpack(packed<std::int16_t>({1}, {}), {.type = element_type::f16});
                 }),
                 "type is float16, but values are unpacked to float32 or float64"));
}
