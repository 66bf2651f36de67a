#include <feedline/batch/tensor_view.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using namespace feedline;

namespace {

struct my_half {
  std::uint16_t bits;
};
struct my_bfloat {
  std::uint16_t bits;
};
struct not_a_half {
  std::uint32_t bits;
};

}  // namespace

template <>
struct feedline::element_traits<my_half> {
  static constexpr element_type type = element_type::f16;
};
template <>
struct feedline::element_traits<my_bfloat> {
  static constexpr element_type type = element_type::bf16;
};
template <>
struct feedline::element_traits<not_a_half> {
  static constexpr element_type type = element_type::f16;
};

TEST_CASE("tensor view: its shape begins with the batch, then the sample's", "[batch][host]") {
  const field image{"image", element_type::u8, {28, 27}};
  const field label{"label", element_type::i64, {}};
  const std::array<std::byte, 1> bytes{};
  CHECK(tensor_view{image, 64, 64 * 28 * 27, bytes.data()}.shape() ==
        std::vector<std::uint64_t>{64, 28, 27});
  CHECK(tensor_view{label, 3, 24, bytes.data()}.shape() == std::vector<std::uint64_t>{3});
}

TEST_CASE("tensor view: it gives typed access to the bytes, all of them and no more",
          "[batch][host]") {
  const field spec{"x", element_type::f32, {2}};
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span{values});
  const tensor_view view{spec, 3, bytes.size(), bytes.data()};
  CHECK(view.name() == "x");
  CHECK(view.type() == element_type::f32);
  CHECK(view.samples() == 3);
  CHECK(view.bytes().data() == bytes.data());
  CHECK(view.bytes().size() == 24);
  CHECK(view.data<float>() == values.data());
  CHECK(std::vector<float>(view.values<float>().begin(), view.values<float>().end()) == values);
}

TEST_CASE("tensor view: a type that is not the field's is refused, with both names",
          "[batch][host]") {
  const field spec{"label", element_type::u8, {}};
  const std::array<std::byte, 4> bytes{};
  const tensor_view view{spec, 4, 4, bytes.data()};
  CHECK_NOTHROW(view.data<std::uint8_t>());
  CHECK_NOTHROW(view.data<std::byte>());
  CHECK(test::message_of<usage_error>([&] { (void)view.data<float>(); }) ==
        "field 'label' holds uint8, not float32: ask for the type it holds, or for bytes()");
  CHECK_THROWS_AS(view.data<std::int8_t>(), usage_error);
  CHECK_THROWS_AS(view.data<bool>(), usage_error);
  CHECK_THROWS_AS(view.values<std::int64_t>(), usage_error);
}

TEST_CASE("tensor view: the holder of the batch may write its memory", "[batch][host]") {
  const field spec{"x", element_type::i32, {}};
  std::vector<std::int32_t> values{1, 2, 3};
  const tensor_view view{spec, 3, 12, std::as_bytes(std::span{values}).data()};
  view.mutable_data<std::int32_t>()[1] = 7;
  view.mutable_bytes()[8] = std::byte{9};
  CHECK(values == std::vector<std::int32_t>{1, 7, 9});
  CHECK_THROWS_AS(view.mutable_data<float>(), usage_error);
}

TEST_CASE("tensor view: half-precision fields have distinct element types", "[batch][host]") {
  const field spec{"h", element_type::f16, {2}};
  const std::array<std::byte, 8> bytes{};
  const tensor_view view{spec, 2, 8, bytes.data()};
  CHECK(static_cast<const void*>(view.data<my_half>()) == bytes.data());
  CHECK(view.values<my_half>().size() == 4);
  CHECK_THROWS_AS(view.data<my_bfloat>(), usage_error);
  CHECK_THROWS_AS(view.data<std::uint16_t>(), usage_error);
  static_assert(!element<not_a_half>);  // its size differs
}
