#include "staging/slot_layout.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstdint>
#include <limits>
#include <vector>

using namespace feedline;
using feedline::detail::slot_layout;

namespace {

const std::vector<field> mnist{{"image", element_type::u8, {28, 28}},
                               {"label", element_type::u8, {}}};

}  // namespace

TEST_CASE("slot layout: each field of each batch lies at a multiple of 256 bytes",
          "[staging][host]") {
  const std::uint64_t batch_size = GENERATE(1u, 3u, 64u, 100u);
  const slot_layout layout{
      {{"a", element_type::u8, {3}}, {"b", element_type::f64, {}}, {"c", element_type::i16, {7}}},
      batch_size,
      5};
  std::size_t end = 0;
  for (std::size_t place = 0; place < 3; ++place) {
    CHECK(layout.field_offset(place) % slot_layout::alignment == 0);
    CHECK(layout.field_offset(place) >= end);
    CHECK(layout.field_offset(place) <
          end + slot_layout::alignment);  // no more padding than needed
    end = layout.field_offset(place) + batch_size * layout.row_bytes(place);
  }
  CHECK(layout.batch_bytes() % slot_layout::alignment == 0);
  CHECK(layout.batch_bytes() >= end);
  CHECK(layout.batch_bytes() < end + slot_layout::alignment);
  CHECK(layout.slot_bytes() == 5 * layout.batch_bytes());
}

TEST_CASE("slot layout: MNIST batches of 64 take the memory of the design", "[staging][host]") {
  const slot_layout layout{mnist, 64, 10};
  CHECK(layout.row_bytes(0) == 784);
  CHECK(layout.row_bytes(1) == 1);
  CHECK(layout.sample_bytes() == 785);
  CHECK(layout.field_offset(0) == 0);
  CHECK(layout.field_offset(1) == 50'176);  // 64 × 784, a multiple of 256 already
  CHECK(layout.batch_bytes() == 50'432);
  CHECK(layout.slot_bytes() == 504'320);
  CHECK(layout.batch_size() == 64);
  CHECK(layout.batches_per_slot() == 10);
  CHECK(layout.fields().size() == 2);
}

TEST_CASE("slot layout: the copied bytes end with the last sample's last field",
          "[staging][host]") {
  const slot_layout layout{mnist, 64, 3};
  const std::size_t batch = layout.batch_bytes();
  CHECK(layout.used_bytes(0) == 0);
  CHECK(layout.used_bytes(1) == 50'176 + 1);
  CHECK(layout.used_bytes(63) == 50'176 + 63);
  CHECK(layout.used_bytes(64) == 50'176 + 64);
  CHECK(layout.used_bytes(65) == batch + 50'176 + 1);
  CHECK(layout.used_bytes(128) == batch + 50'176 + 64);
  CHECK(layout.used_bytes(192) == 2 * batch + 50'176 + 64);
  CHECK(layout.used_bytes(192) <= layout.slot_bytes());
}

TEST_CASE("slot layout: sizes beyond all memory are refused with the option's names, not wrapped",
          "[staging][host]") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  CHECK(test::message_of<usage_error>([] {
          (void)slot_layout{mnist, most, 1};
        }) ==
        "batch_size 18446744073709551615 × batches_per_slot 1: a slot's bytes do not fit in 62 "
        "bits");
  CHECK_THROWS_AS((slot_layout{mnist, 1, most}), usage_error);
  // Each field fits, their sum does not.
  const std::vector<field> halves{{"a", element_type::u8, {std::uint64_t{1} << 61}},
                                  {"b", element_type::u8, {std::uint64_t{1} << 61}}};
  CHECK_THROWS_AS((slot_layout{halves, 1, 1}), usage_error);
  // The largest first field there can be leaves no room for a second one, and says so.
  const std::vector<field> brim{{"a", element_type::u8, {(std::uint64_t{1} << 62) - 256}},
                                {"b", element_type::u8, {}}};
  CHECK_THROWS_AS((slot_layout{brim, 1, 1}), usage_error);
  CHECK_THROWS_AS((slot_layout{{{"a", element_type::u8, {0}}}, 1, 1}), usage_error);
}
