#include "hdf5/format/chunk_map.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::hdf5_chunk_map;

TEST_CASE("hdf5 chunk map: numbers chunks in row-major order", "[dataset][host]") {
  const hdf5_chunk_map map{{5, 7, 9}, {2, 7, 4}};
  CHECK(map.size() == 9);
  CHECK(std::vector<std::uint64_t>(map.grid().begin(), map.grid().end()) ==
        std::vector<std::uint64_t>{3, 1, 3});
  std::array<std::uint64_t, 3> first{};
  map.first_element(5, first);
  CHECK(first == std::array<std::uint64_t, 3>{2, 0, 8});
  CHECK(map.is_partial(5));        // reaches to 12 of 9 in the last dimension
  CHECK_FALSE(map.is_partial(4));  // from 2 to 4, from 4 to 8
  CHECK(map.is_partial(6));        // reaches to 6 of 5 in the first
  CHECK_FALSE(map[0].is_written());
}

TEST_CASE("hdf5 chunk map: extents that make no grid are refused", "[dataset][host]") {
  using extents = std::vector<std::uint64_t>;
  const std::string shapes =
      "a chunk map needs the extents of a dataset and of its chunks, the same number of each, and "
      "none 0";
  const auto refusal = [](const extents& whole, const extents& chunk) {
    return message_of<usage_error>([&] { const hdf5_chunk_map map{whole, chunk}; });
  };
  CHECK(refusal({}, {}) == shapes);
  CHECK(refusal({4}, {2, 2}) == shapes);
  CHECK(refusal({4, 0}, {2, 2}) == shapes);
  CHECK(refusal({4, 4}, {2, 0}) == shapes);
  CHECK(refusal({1ULL << 40, 1ULL << 30}, {1, 1}) ==
        "a dataset with this many chunks cannot be mapped");
  CHECK(refusal({1ULL << 62}, {1}) == "a dataset with this many chunks cannot be mapped");
}
