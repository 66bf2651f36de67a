#include <feedline/dataset/element_type.hpp>
#include <feedline/error.hpp>

#include "support/checks/message_of.hpp"
#include "torch/support.hpp"

#include <cstdint>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("torch: each element type has a type of libtorch's of its size, and back",
          "[batch][host]") {
  for (int value = 0; value <= static_cast<int>(element_type::boolean); ++value) {
    const auto type = static_cast<element_type>(value);
    INFO(to_string(type));
    const c10::ScalarType there = libtorch::scalar_type(type);
    CHECK(c10::elementSize(there) == size_bytes(type));
    CHECK(libtorch::element_type_for(there) == type);
    CHECK(c10::isIntegralType(there, /*includeBool=*/true) == is_whole(type));
  }
  CHECK(libtorch::scalar_type(element_type::u8) == torch::kByte);
  CHECK(libtorch::scalar_type(element_type::i8) == torch::kChar);
  CHECK(libtorch::scalar_type(element_type::f16) == torch::kHalf);
  CHECK(libtorch::scalar_type(element_type::bf16) == torch::kBFloat16);
  CHECK(libtorch::scalar_type(element_type::u32) == torch::kUInt32);
  CHECK(libtorch::scalar_type(element_type::i64) == torch::kLong);
}

TEST_CASE("torch: a type that feedline lacks is refused with its name and a remedy",
          "[batch][host]") {
  CHECK(message_of<usage_error>(
            [] { (void)libtorch::element_type_for(c10::ScalarType::ComplexFloat); }) ==
        "feedline has no element type for libtorch's ComplexFloat: convert the tensor first, as by "
        "tensor.to(torch::kFloat32)");
  using c10::ScalarType;
  for (const auto type : {ScalarType::ComplexDouble, ScalarType::Float8_e4m3fn, ScalarType::QInt8})
    CHECK_THROWS_AS(libtorch::element_type_for(type), usage_error);
}
