/// Limits of what a sample takes on a device, by which memory is laid out there: no sample may need
/// more pieces or chunks.

#include <feedline/arrays/windows.hpp>

#include "arrays/windows/cut.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/coded_chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

std::uint64_t below(std::mt19937_64& random, std::uint64_t end) {
  return random() % end;
}

window along_axis(std::mt19937_64& random, const std::string& name, std::uint64_t extent) {
  window along{.axis = name};
  along.edges = static_cast<window_edges>(below(random, 3));
  along.position = static_cast<window_position>(below(random, 2));
  along.stride = 1 + below(random, extent);
  along.size = 1 + below(random, along.edges == window_edges::drop ? extent / 2 + 1 : 2 * extent);
  along.step = 1 + below(random, 3);
  if (along.edges == window_edges::drop && (along.size - 1) * along.step >= extent / 2)
    along.step = 1;
  if (extent > 6 && below(random, 3) == 0) along.excluded = {{extent / 2, extent / 2 + 1}};
  return along;
}

dataset_ptr random_windows(std::mt19937_64& random) {
  const std::size_t rank = 1 + below(random, 3);
  std::vector<window> windows;
  std::vector<array_spec> specs(1 + below(random, 2));
  for (std::size_t d = 0; d < rank; ++d) {
    const std::string name(1, static_cast<char>('a' + d));
    const std::uint64_t extent = 1 + below(random, 30);
    for (array_spec& each : specs) {
      each.shape.push_back(extent);
      each.chunk.push_back(1 + below(random, extent));
      each.dimensions.push_back(name);
    }
    if (d == 0 || below(random, 3) != 0) windows.push_back(along_axis(random, name, extent));
  }
  std::vector<array_ptr> arrays;
  for (array_spec& each : specs) {
    each.name = "x" + std::to_string(arrays.size());
    arrays.push_back(make_coded_array(each, std::make_shared<coded_chunks::record>()));
  }
  std::vector<window_field> fields(1 + below(random, 3));
  for (window_field& each : fields) {
    each.name = "f" + std::to_string(&each - fields.data());
    each.arrays = {arrays[below(random, arrays.size())]};
    for (const window& along : windows) {
      if (below(random, 2) == 0) continue;
      const auto offset = static_cast<std::int64_t>(below(random, 7)) - 3;
      each.windows.push_back({along.axis, offset, 1 + below(random, along.size), along.step});
    }
  }
  try {
    return make_windows(windows, fields, {.draws = 2});
  } catch (const usage_error&) {  // no position is left
    return nullptr;
  }
}

}  // namespace

TEST_CASE("cut windows: no sample needs more pieces and chunks than the limits say",
          "[arrays][host]") {
  std::mt19937_64 random{2026};
  std::size_t looked = 0;
  for (int number = 0; looked < 20'000; ++number) {
    const dataset_ptr set = random_windows(random);
    if (!set) continue;
    const auto blocks = std::dynamic_pointer_cast<const detail::window_blocks>(set->encoded());
    if (!blocks) continue;  // samples of too many pieces
    const std::uint64_t step = std::max<std::uint64_t>(1, set->size() / 60);
    detail::window_blocks::recipe recipe;
    for (std::uint64_t sample = 0; sample < set->size(); sample += step, ++looked) {
      std::vector<std::set<std::uint64_t>> chunks(blocks->arrays().size());
      for (std::size_t field = 0; field < set->fields().size(); ++field) {
        if (!blocks->is_window(field)) continue;
        blocks->cut(field, sample_index{sample}, {7, 1, sample_index{sample}, position{sample}},
                    recipe);
        INFO("case " << number << ", sample " << sample << ", field " << field);
        REQUIRE(recipe.pieces.size() <= blocks->max_pieces(field));
        for (const auto& piece : recipe.pieces)
          if (piece.chunk != detail::window_blocks::no_chunk)
            chunks[piece.box.field].insert(piece.chunk);
      }
      INFO("case " << number << ", sample " << sample);
      for (std::size_t array = 0; array < chunks.size(); ++array)
        REQUIRE(chunks[array].size() <= blocks->arrays()[array].max_chunks);
    }
  }
}
