#include "formats/parquet/row_places.hpp"

#include "support/checks/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using feedline::detail::row_place;

TEST_CASE("Parquet's rows: they are sorted by group, and keep their order within each",
          "[dataset][host]") {
  std::mt19937 random{1};
  std::vector<row_place> memory;
  for (const std::uint32_t groups : {1U, 2U, 5U, 16U, 17U, 300U})
    for (const std::uint32_t count : {0U, 1U, 7U, 2000U}) {
      INFO(groups << " groups, " << count << " places");
      std::vector<row_place> places;
      for (std::uint32_t i = 0; i < count; ++i)
        places.push_back({1'000'000 - static_cast<std::uint32_t>(random() % groups), i, random()});
      std::vector<row_place> expected = places;
      std::ranges::stable_sort(expected, {}, &row_place::group);
      feedline::detail::sort_by_group(places, memory);
      REQUIRE(places.size() == expected.size());
      REQUIRE(std::ranges::equal(places, expected, [](const row_place& a, const row_place& b) {
        return a.group == b.group && a.in_request == b.in_request && a.row == b.row;
      }));
    }
}
