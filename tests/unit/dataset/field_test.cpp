#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstddef>
#include <cstdint>

using namespace feedline;

TEST_CASE("field: a sample's bytes are the product of the shape times the element's size",
          "[dataset][host]") {
  CHECK(sample_bytes({"image", element_type::u8, {28, 28}}) == 784);
  CHECK(sample_bytes({"x", element_type::f32, {3, 32, 32}}) == 12288);
  CHECK(sample_bytes({"label", element_type::i64, {}}) == 8);
}

TEST_CASE("field: a shape that overflows or holds nothing is refused", "[dataset][host]") {
  CHECK_THROWS_AS(sample_bytes({"x", element_type::f64, {UINT64_MAX / 4, 4}}), usage_error);
  CHECK_THROWS_AS(sample_bytes({"x", element_type::u8, {3, 0}}), usage_error);
}

TEST_CASE("field: an invalid type is refused, with name and value", "[dataset][host]") {
  CHECK(feedline::test::message_of<usage_error>([] {
          (void)sample_bytes({"x", static_cast<element_type>(13), {2}});
        }) ==
        "field 'x': element type is 13, which is not a value of its type: say one of u8, i8, u16, "
        "i16, u32, i32, u64, i64, f16, bf16, f32, f64, boolean");
}

TEST_CASE("field: its text names name, type and shape", "[dataset][host]") {
  CHECK(to_string(field{"image", element_type::u8, {28, 28}}) == "image: uint8[28, 28]");
  CHECK(to_string(field{"label", element_type::bf16, {}}) == "label: bfloat16[]");
}

TEST_CASE("element type: every C++ integer has one, by size and sign", "[dataset][host]") {
  STATIC_REQUIRE(element_type_of<unsigned long long>() == element_type::u64);
  STATIC_REQUIRE(element_type_of<long>() == element_type::i64);
  STATIC_REQUIRE(element_type_of<std::byte>() == element_type::u8);
  STATIC_REQUIRE(element_type_of<bool>() == element_type::boolean);
  STATIC_REQUIRE(element_type_of<double>() == element_type::f64);
}
