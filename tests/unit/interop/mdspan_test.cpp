#include <feedline/error.hpp>
#include <feedline/interop/mdspan.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace {

struct shaped {
  field spec{"image", element_type::u16, {2, 3}};
  std::vector<std::uint16_t> values = numbered();
  tensor_view view{spec, 4, values.size() * 2, std::as_bytes(std::span{values}).data()};

  static std::vector<std::uint16_t> numbered() {
    std::vector<std::uint16_t> values(24);
    std::iota(values.begin(), values.end(), std::uint16_t{0});
    return values;
  }
};

}  // namespace

TEST_CASE("mdspan: extents are the samples and the field's shape, of the rank asked for",
          "[interop][host]") {
  const shaped image;
  CHECK(detail::extents_of<3, int>(image.view) == std::array{4, 2, 3});
  CHECK(message_of<usage_error>([&] { (void)detail::extents_of<2, int>(image.view); }) ==
        "field 'image' of a batch has 3 dimensions, the samples' among them, not 2: ask for an "
        "mdspan of that rank");
}

TEST_CASE("mdspan: an index that cannot count the elements is refused", "[interop][host]") {
  const field spec{"row", element_type::u8, {128}};
  const tensor_view fits{spec, 0, 127, nullptr};
  const tensor_view large{spec, 1, 128, nullptr};
  CHECK(detail::extents_of<2, std::int8_t>(fits)[0] == 0);
  CHECK(message_of<usage_error>([&] { (void)detail::extents_of<2, std::int8_t>(large); }) ==
        "field 'row' of a batch has 128 elements, more than the mdspan's index counts: ask for one "
        "of std::size_t");
}

#ifdef __cpp_lib_mdspan
TEST_CASE("mdspan: the standard library's sees the elements, and writes them", "[interop][host]") {
  const shaped image;
  const auto seen = to_mdspan<const std::uint16_t, 3>(image.view);
  CHECK(seen.extent(0) == 4);
  CHECK(seen[std::array{1, 1, 2}] == 11);
  to_mdspan<std::uint16_t, 3>(image.view)[std::array{0, 0, 1}] = 99;
  CHECK(image.values[1] == 99);
  CHECK_THROWS_AS((to_mdspan<const float, 3>(image.view)), usage_error);
}
#endif
