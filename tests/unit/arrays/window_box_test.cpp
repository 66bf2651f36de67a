/// Boxes of windows: the fewest dimensions, the largest units.

#include "arrays/cut/window_box.hpp"

#include "arrays/copy_box.hpp"
#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

using namespace feedline;

namespace {

/// Copies a box unit by unit.
void apply(const window_box& box, const std::vector<std::byte>& chunk,
           std::vector<std::byte>& row) {
  for (std::uint32_t unit = 0; unit < box.units; ++unit) {
    std::int64_t from = box.from;
    std::int64_t to = box.to;
    std::uint32_t rest = unit;
    for (std::uint32_t d = box.rank; d-- > 0; rest /= box.count[d]) {
      from += std::int64_t{rest % box.count[d]} * box.from_stride[d];
      to += std::int64_t{rest % box.count[d]} * box.to_stride[d];
    }
    REQUIRE(from % box.unit == 0);
    REQUIRE(to % box.unit == 0);
    REQUIRE(to >= 0);
    REQUIRE(static_cast<std::size_t>(to) + box.unit <= row.size());
    const bool is_fill = box.place == window_box::no_chunk;
    std::memcpy(row.data() + to, is_fill ? box.fill : chunk.data() + from, box.unit);
  }
}

}  // namespace

TEST_CASE("window boxes: a dense box is one run of the largest units", "[arrays]") {
  const std::uint64_t count[] = {4, 8, 8};
  const std::ptrdiff_t stride[] = {128, 16, 2};
  const detail::box_extents whole{.count = count,
                                  .from = 32,
                                  .from_stride = stride,
                                  .to = 64,
                                  .to_stride = stride,
                                  .element_bytes = 2,
                                  .chunk_bytes = 1024,
                                  .row_bytes = 1024};
  const window_box box = detail::make_window_box(whole);
  CHECK(box.rank == 1);
  CHECK(box.unit == 16);
  CHECK(box.units == 32);
  detail::box_extents odd = whole;
  odd.row_bytes = 1026;
  CHECK(detail::make_window_box(odd).unit == 2);
  odd = whole;
  odd.from = 36;
  CHECK(detail::make_window_box(odd).unit == 4);
}

TEST_CASE("window boxes: copy the elements of their extents, each to its byte", "[arrays]") {
  std::mt19937 random{5};
  for (int i = 0; i < 300; ++i) {
    const auto below = [&](std::uint32_t end) { return random() % end; };
    const std::size_t rank = below(5);
    const std::size_t element = std::size_t{1} << below(4);
    std::vector<std::uint64_t> count;
    std::vector<std::uint64_t> chunk;
    std::vector<std::ptrdiff_t> from_stride(rank);
    std::vector<std::ptrdiff_t> to_stride(rank);
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    auto chunk_bytes = static_cast<std::ptrdiff_t>(element);
    auto row_bytes = chunk_bytes;
    for (std::size_t d = 0; d < rank; ++d) {
      count.push_back(1 + below(5));
      const std::uint64_t step = 1 + below(2);
      chunk.push_back(count[d] * step + below(3));
      from_stride[d] = static_cast<std::ptrdiff_t>(step);
    }
    for (std::size_t d = rank; d-- > 0;) {
      from += (chunk[d] - (count[d] - 1) * static_cast<std::uint64_t>(from_stride[d]) - 1) *
              static_cast<std::uint64_t>(chunk_bytes);
      from_stride[d] *= chunk_bytes;
      to_stride[d] = row_bytes;
      if (below(4) == 0) {  // mirrored
        to += (count[d] - 1) * static_cast<std::uint64_t>(row_bytes);
        to_stride[d] = -row_bytes;
      }
      chunk_bytes *= static_cast<std::ptrdiff_t>(chunk[d]);
      row_bytes *= static_cast<std::ptrdiff_t>(count[d]);
    }
    const detail::box_extents what{.count = count,
                                   .from = from,
                                   .from_stride = from_stride,
                                   .to = to,
                                   .to_stride = to_stride,
                                   .element_bytes = element,
                                   .chunk_bytes = static_cast<std::size_t>(chunk_bytes),
                                   .row_bytes = static_cast<std::size_t>(row_bytes)};
    std::vector<std::byte> values(what.chunk_bytes);
    for (std::byte& each : values) each = static_cast<std::byte>(random());
    std::vector<std::byte> expected(what.row_bytes, std::byte{1});
    std::vector<std::byte> seen(what.row_bytes, std::byte{2});
    detail::copy_box({.count = count,
                      .from = values.data() + from,
                      .from_stride = from_stride,
                      .to = expected.data() + to,
                      .to_stride = to_stride,
                      .element_bytes = element});
    apply(detail::make_window_box(what), values, seen);
    CHECK(seen == expected);

    const std::span<const std::byte> fill{values.data(), element};
    detail::copy_box({.count = count,
                      .from = fill.data(),
                      .from_stride = std::vector<std::ptrdiff_t>(rank, 0),
                      .to = expected.data() + to,
                      .to_stride = to_stride,
                      .element_bytes = element});
    apply(detail::make_fill_box(what, fill), values, seen);
    CHECK(seen == expected);
  }
}
