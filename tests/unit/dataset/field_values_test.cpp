#include "sampler/field_values.hpp"

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::detail::read_field;

namespace {

/// A label beside an image that must not be read.
class labelled final : public dataset {
 public:
  std::uint64_t size() const override { return 10; }
  std::vector<field> fields() const override {
    return {{"image", element_type::u8, {64}}, {"label", element_type::i8, {}}};
  }
  void do_read(const read_request&) const override { throw usage_error{"the image was read"}; }
  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<std::int8_t> labels(10);
    for (std::size_t i = 0; i < 10; ++i) labels[i] = static_cast<std::int8_t>(-static_cast<int>(i));
    return places.size() == 1 && places[0] == 1
               ? make_memory_dataset({own("label", std::move(labels))})
               : nullptr;
  }
};

}  // namespace

TEST_CASE("field values: values of several reads follow one another", "[sampler][host]") {
  constexpr std::uint64_t samples = 100'003;
  std::vector<std::uint64_t> values(3 * samples);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * i;
  const auto read =
      read_field<std::int64_t>("test", make_memory_dataset({own("x", values, {3})}), "x", 1);
  CHECK(read.shape == std::vector<std::uint64_t>{3});
  CHECK(std::vector<std::uint64_t>(read.values.begin(), read.values.end()) == values);
}

TEST_CASE("field values: no other field is read, and signs are kept", "[sampler][host]") {
  const auto read = read_field<std::int64_t>("test", std::make_shared<labelled>(), "label");
  CHECK(read.values == std::vector<std::int64_t>{0, -1, -2, -3, -4, -5, -6, -7, -8, -9});
}

TEST_CASE("field values: integers and floating-point numbers become weights", "[sampler][host]") {
  const auto data = make_memory_dataset({own("f32", std::vector<float>{0.5F, 2}),
                                         own("i16", std::vector<std::int16_t>{-3, 7}),
                                         own("u64", std::vector<std::uint64_t>{1, UINT64_MAX})});
  CHECK(read_field<double>("test", data, "f32").values == std::vector<double>{0.5, 2});
  CHECK(read_field<double>("test", data, "i16").values == std::vector<double>{-3, 7});
  CHECK(read_field<double>("test", data, "u64").values == std::vector<double>{1, 0x1p64});
  CHECK(test::message_of<usage_error>([&] {
          (void)read_field<std::int64_t>("test", data, "f32");
        }) == "test: field f32: float32[] cannot be used; it must have an integer a sample");
  CHECK(test::message_of<usage_error>([&] {
          (void)read_field<double>("test", data, "f64");
        }).find("test: ") == 0);
}
