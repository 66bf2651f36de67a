#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/arrays/windows.hpp>

#include "arrays/file_array.hpp"
#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/numbered_chunks.hpp"
#include "support/files/temporary_directory.hpp"
#include "unit/arrays/reference.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint32_t pad_value = 77'777;

/// A random array, windows along some of its axes, and two fields.
struct random_case {
  std::vector<std::uint64_t> shape;
  std::vector<window> windows;
  std::vector<std::vector<plain_window>> fields;  ///< for each field, for each window
  std::uint64_t draws = 1;

  explicit random_case(std::mt19937_64& random) {
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    const std::size_t rank = 1 + below(4);
    for (std::size_t d = 0; d < rank; ++d) shape.push_back(1 + below(rank < 3 ? 40 : 9));
    std::vector<std::size_t> axes;
    for (std::size_t d = 0; d < rank; ++d)
      if (below(3) != 0 || (d + 1 == rank && axes.empty())) axes.push_back(d);
    std::shuffle(axes.begin(), axes.end(), random);
    fields.resize(1 + below(2));
    draws = 1 + below(2);
    for (const std::size_t axis : axes) {
      const std::uint64_t extent = shape[axis];
      window along{below(2) == 0 ? static_cast<int>(axis)
                                 : static_cast<int>(axis) - static_cast<int>(rank)};
      along.edges = static_cast<window_edges>(below(3));
      along.position = below(4) == 0 ? window_position::random : window_position::grid;
      along.stride = 1 + below(extent);
      along.size = 1 + below(extent);
      along.step = along.size == 1 ? 1 + below(3)
                                   : 1 + below((extent - 1) / (along.size - 1) + 0 == 0
                                                   ? 1
                                                   : (extent - 1) / (along.size - 1));
      if (along.edges != window_edges::drop && below(2) == 0) along.size += below(2 * extent);
      std::vector<plain_window> own;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        plain_window one{0, along.size, along.step};
        if (along.edges != window_edges::drop) {
          one.offset = static_cast<std::int64_t>(below(9)) - 4;
        } else {
          // Any part of the sample's window: it fits whatever the offset.
          const std::uint64_t spanned = (along.size - 1) * along.step + 1;
          one.size = 1 + below(spanned);
          one.step = 1;
          one.offset = static_cast<std::int64_t>(below(spanned - one.size + 1)) - 1;
        }
        own.push_back(one);
        fields[f].push_back(one);
      }
      if (below(3) == 0 && extent > 4) {
        const std::uint64_t begin = below(extent);
        const index_range range{begin,
                                begin + below(std::min<std::uint64_t>(3, extent - begin + 1))};
        along.excluded.push_back(range);
        if (plain_positions(along, extent, own).empty()) along.excluded.clear();
      }
      windows.push_back(along);
    }
  }

  [[nodiscard]] std::size_t axis_of(std::size_t w) const {
    const auto number = windows[w].axis.number;
    return static_cast<std::size_t>(number < 0 ? number + static_cast<std::int64_t>(shape.size())
                                               : number);
  }
};

/// One sample's field by the oracle.
std::vector<std::uint32_t> expected(const random_case& made, std::size_t field,
                                    const std::vector<std::int64_t>& positions) {
  const std::size_t rank = made.shape.size();
  std::vector<std::uint64_t> count = made.shape;
  for (std::size_t w = 0; w < made.windows.size(); ++w)
    count[made.axis_of(w)] = made.fields[field][w].size;
  std::size_t all = 1;
  for (const std::uint64_t each : count) all *= each;
  std::vector<std::uint32_t> values(all);
  for (std::size_t i = 0; i < all; ++i) {
    std::vector<std::uint64_t> at(rank);
    std::uint64_t rest = i;
    for (std::size_t d = rank; d-- > 0;) {
      at[d] = rest % count[d];
      rest /= count[d];
    }
    bool is_pad = false;
    for (std::size_t w = 0; w < made.windows.size(); ++w) {
      const std::size_t d = made.axis_of(w);
      const plain_window& own = made.fields[field][w];
      const auto index =
          plain_index(positions[w] + own.offset + static_cast<std::int64_t>(at[d] * own.step),
                      made.shape[d], made.windows[w].edges);
      is_pad = is_pad || !index;
      at[d] = index.value_or(0);
    }
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < rank; ++d) number = number * made.shape[d] + at[d];
    values[i] = is_pad ? pad_value : static_cast<std::uint32_t>(number);
  }
  return values;
}

/// Positions of a sample by the oracle. Random ones by the same draws, in the order of the windows.
std::vector<std::int64_t> positions_of(const random_case& made,
                                       const std::vector<std::vector<std::int64_t>>& all,
                                       std::uint64_t sample, const sample_context& context) {
  std::vector<std::int64_t> positions(made.windows.size());
  sample_random random = context.random(0x77'69'6e'64'6f'77'73);
  for (std::size_t w = 0; w < positions.size(); ++w)
    if (made.windows[w].position == window_position::random)
      positions[w] = all[w][random.below(all[w].size())];
  std::uint64_t rest = sample / made.draws;
  for (std::size_t w = positions.size(); w-- > 0;)
    if (made.windows[w].position == window_position::grid) {
      positions[w] = all[w][rest % all[w].size()];
      rest /= all[w].size();
    }
  return positions;
}

std::vector<window_field> fields_of(const random_case& made, const array_ptr& array) {
  std::vector<window_field> fields;
  for (std::size_t f = 0; f < made.fields.size(); ++f) {
    window_field field{.name = "f" + std::to_string(f), .arrays = {array}, .pad = pad_value};
    for (std::size_t w = 0; w < made.windows.size(); ++w) {
      const plain_window& own = made.fields[f][w];
      field.windows.push_back({made.windows[w].axis, own.offset, own.size, own.step});
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

/// The array by each of the ways of reading it.
std::vector<array_ptr> arrays_of(const random_case& made, std::mt19937_64& random,
                                 const temporary_directory& folder) {
  const auto values = numbered(made.shape);
  std::vector<array_ptr> arrays;
  arrays.push_back(make_memory_array({.name = "x", .shape = made.shape}, values));
  std::vector<std::uint64_t> chunk;
  for (const std::uint64_t extent : made.shape) chunk.push_back(1 + random() % extent);
  arrays.push_back(detail::make_chunked_array(
      {.name = "x", .type = element_type::u32, .shape = made.shape, .chunk = chunk},
      std::make_unique<const numbered_chunks>(made.shape, chunk,
                                              std::make_shared<numbered_chunks::record>()),
      std::vector<std::byte>(4), random() % 4096));
  // The dimensions in a random order in the file, with bytes reversed, and read by calls.
  std::vector<std::size_t> order(made.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  detail::file_array_place position{
      .offset = 12, .strides = std::vector<std::ptrdiff_t>(order.size()), .is_swapped = true};
  std::ptrdiff_t stride = 4;
  for (const std::size_t d : order) {
    position.strides[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(made.shape[d]);
  }
  std::vector<std::byte> bytes(12 + static_cast<std::size_t>(stride));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t at = 12;
    std::uint64_t rest = i;
    for (std::size_t d = order.size(); d-- > 0;) {
      at += rest % made.shape[d] * static_cast<std::size_t>(position.strides[d]);
      rest /= made.shape[d];
    }
    const std::uint32_t swapped = __builtin_bswap32(values[i]);
    std::memcpy(bytes.data() + at, &swapped, sizeof swapped);
  }
  const auto path = folder.write("x", bytes).string();
  const array_spec spec{.name = "x", .type = element_type::u32, .shape = made.shape};
  for (const auto how : {detail::file_access::mapped, detail::file_access::by_calls})
    arrays.push_back(detail::make_file_array(spec, detail::open_file(path, how), position));
  return arrays;
}

}  // namespace

TEST_CASE("windows: each of 10^5 random windows is the slice of the array, however it is stored",
          "[arrays][host]") {
  std::mt19937_64 random{2026};
  const temporary_directory folder;
  std::size_t compared = 0;
  for (int number = 0; compared < 100'000; ++number) {
    const random_case made{random};
    std::vector<std::vector<std::int64_t>> positions;
    std::uint64_t size = made.draws;
    for (std::size_t w = 0; w < made.windows.size(); ++w) {
      std::vector<plain_window> own;
      for (const auto& field : made.fields) own.push_back(field[w]);
      positions.push_back(plain_positions(made.windows[w], made.shape[made.axis_of(w)], own));
      if (made.windows[w].position == window_position::grid) size *= positions.back().size();
    }
    for (const array_ptr& array : arrays_of(made, random, folder)) {
      const auto set = make_windows(made.windows, fields_of(made, array), {.draws = made.draws});
      REQUIRE(set->size() == size);
      std::vector<sample_index> samples;
      for (int i = 0; i < 40; ++i) samples.push_back({random() % size});
      const auto fields = set->fields();
      std::vector<std::vector<std::byte>> memory;
      std::vector<std::span<std::byte>> out;
      for (const field& each : fields)
        out.emplace_back(memory.emplace_back(samples.size() * sample_bytes(each), std::byte{0xEE}));
      const read_context context{7, static_cast<std::uint64_t>(number), samples, position{3}};
      set->read({samples, out, context});
      for (std::size_t i = 0; i < samples.size(); ++i)
        for (std::size_t f = 0; f < fields.size(); ++f, ++compared) {
          const auto values =
              expected(made, f, positions_of(made, positions, samples[i].value, context[i]));
          const std::size_t bytes = sample_bytes(fields[f]);
          REQUIRE(values.size() * sizeof(std::uint32_t) == bytes);
          INFO("case " << number << ", sample " << samples[i].value << ", field " << f);
          REQUIRE(std::memcmp(values.data(), memory[f].data() + i * bytes, bytes) == 0);
        }
    }
  }
  CHECK(compared >= 100'000);
}
