#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_chunks.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

array_ptr make(std::string name, std::vector<std::uint64_t> shape,
               std::vector<std::string> dimensions = {}) {
  return make_memory_array(
      {.name = std::move(name), .shape = shape, .dimensions = std::move(dimensions)},
      numbered(shape));
}

std::vector<std::uint32_t> read(const dataset_ptr& set, std::size_t field, std::uint64_t sample) {
  const auto fields = set->fields();
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::span<std::byte>> out;
  for (const auto& each : fields) out.emplace_back(memory.emplace_back(sample_bytes(each)));
  const sample_index one{sample};
  set->read({&one, 1}, out);
  std::vector<std::uint32_t> values(memory[field].size() / sizeof(std::uint32_t));
  std::memcpy(values.data(), memory[field].data(), memory[field].size());
  return values;
}

std::string refusal(std::vector<window> windows, std::vector<window_field> fields,
                    window_options options = {}) {
  return message_of<usage_error>(
      [&] { (void)make_windows(std::move(windows), std::move(fields), options); });
}

}  // namespace

TEST_CASE("windows: variables and levels are stacked as channels, anywhere in the shape",
          "[arrays][host]") {
  const auto t = make("t", {6, 3, 2, 4}, {"time", "level", "y", "x"});
  const auto s = make("s", {6, 2, 4}, {"time", "y", "x"});
  const auto levels = choose_along(t, "level", {2, 0});
  for (const std::size_t position : {0U, 1U, 3U}) {
    const auto set = make_windows(
        {{"time", 2}}, {{"x", {levels, s}, {}, {"level"}, position}, {"y", {s}, {{"time", 1, 1}}}});
    CHECK(set->size() == 5);
    std::vector<std::uint64_t> shape{2, 2, 4};
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(position), 3);
    CHECK(set->fields()[0] == field{"x", element_type::u32, shape});
    const auto values = read(set, 0, 1);
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      std::vector<std::uint32_t> at(4);
      std::uint32_t rest = i;
      for (std::size_t d = 4; d-- > 0; rest /= static_cast<std::uint32_t>(shape[d + 0]))
        at[d] = rest % static_cast<std::uint32_t>(shape[d]);
      const std::uint32_t channel = at[position];
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(position));
      const std::uint32_t time = 1 + at[0];
      wanted.push_back(channel == 2
                           ? (time * 2 + at[1]) * 4 + at[2]
                           : ((time * 3 + (channel == 0 ? 2 : 0)) * 2 + at[1]) * 4 + at[2]);
    }
    CHECK(values == wanted);
    CHECK(read(set, 1, 1).front() == 2 * 8);
  }
}

TEST_CASE("windows: arrays without a named axis are the same at all its positions",
          "[arrays][host]") {
  const auto t = make("t", {5, 4}, {"time", "x"});
  const auto heights = make("heights", {4}, {"x"});
  const auto time = make("time", {5}, {"time"});
  const auto set = make_windows({{.axis = "time", .keep_axis = false}, {"x", 2, 2}},
                                {{"t", {t}}, {"h", {heights}}, {"when", {time}}});
  CHECK(set->size() == 10);
  CHECK(set->fields()[0].shape == std::vector<std::uint64_t>{2});
  CHECK(set->fields()[2].shape.empty());
  CHECK(read(set, 0, 7) == std::vector<std::uint32_t>{14, 15});
  CHECK(read(set, 1, 7) == std::vector<std::uint32_t>{2, 3});
  CHECK(read(set, 2, 7) == std::vector<std::uint32_t>{3});
}

TEST_CASE("windows: the last axis can count the samples, as MATLAB has it", "[arrays][host]") {
  const auto set = make_windows({{.axis = -1, .keep_axis = false}}, {{"x", {make("x", {3, 5})}}});
  CHECK(set->size() == 5);
  CHECK(set->fields()[0].shape == std::vector<std::uint64_t>{3});
  CHECK(read(set, 0, 4) == std::vector<std::uint32_t>{4, 9, 14});
}

TEST_CASE("windows: none extends over an excluded range, nor over one without elements",
          "[arrays][host]") {
  const auto x = make("x", {10});
  const auto set =
      make_windows({{.axis = 0, .size = 3, .excluded = {{6, 7}, {4, 4}}}}, {{"x", {x}}});
  std::vector<std::uint32_t> first;
  for (std::uint64_t i = 0; i < set->size(); ++i) first.push_back(read(set, 0, i).front());
  CHECK(first == std::vector<std::uint32_t>{0, 1, 7});
  CHECK(contains(refusal({{.axis = 0, .size = 5, .excluded = {{4, 6}}}}, {{"x", {x}}}),
                 "no window fits along axis 0 of array x: uint32[10]"));
}

TEST_CASE("windows: the step of a window of one element is of no account", "[arrays][host]") {
  const array_ptr array = make("x", {5});
  const std::uint64_t step = GENERATE(std::uint64_t{7}, std::uint64_t{1} << 63U,
                                      std::numeric_limits<std::uint64_t>::max());
  const auto edges = GENERATE(window_edges::pad, window_edges::reflect);
  const auto set = make_windows({{.axis = 0, .step = step, .edges = edges}},
                                {{"x", {array}, {{.axis = 0, .offset = -3}}, {}, 0, 99}});
  std::vector<std::uint32_t> all;
  for (std::uint64_t i = 0; i < set->size(); ++i) all.push_back(read(set, 0, i)[0]);
  CHECK(all == (edges == window_edges::pad ? std::vector<std::uint32_t>{99, 99, 99, 0, 1}
                                           : std::vector<std::uint32_t>{3, 2, 1, 0, 1}));
}

TEST_CASE("windows: arrays that follow each other along an axis are one", "[arrays][host]") {
  const auto both = concatenate_arrays({make("x", {3, 2}), make("x", {4, 2})}, 0);
  CHECK(both->spec().shape == std::vector<std::uint64_t>{7, 2});
  const auto set = make_windows({{0, 3, 1, 2}}, {{"x", {both}}});
  CHECK(set->size() == 3);
  CHECK(read(set, 0, 1) == std::vector<std::uint32_t>{2, 3, 0, 1, 4, 5});
  CHECK(contains(message_of<usage_error>([] {
                   (void)concatenate_arrays({make("x", {3, 2}), make("y", {4, 3})}, 0);
                 }),
                 "differ in more than the extent of axis 0"));
}

TEST_CASE("windows: what cannot be is refused with array, axis, value and remedy",
          "[arrays][host]") {
  const auto x = make("x", {4, 6}, {"time", "y"});
  const std::vector<window_field> fields{{"x", {x}}};
  CHECK(contains(refusal({}, fields), "there is no window"));
  CHECK(contains(refusal({{"time"}}, {}), "there is no field"));
  CHECK(contains(refusal({{"time", 5}}, fields),
                 "span 5 elements along axis 'time' of array x: uint32[time 4, y 6], offsets and "
                 "steps included, but there are 4; make them smaller"));
  CHECK(contains(refusal({{"time", 2, 1, 4}}, fields), "span 5 elements along axis 'time'"));
  CHECK(contains(refusal({{"time", 0}}, fields), "has size 0; the least is 1"));
  CHECK(contains(refusal({{"time", 1, 0}}, fields), "the stride along axis 'time'"));
  CHECK(contains(refusal({{"time", 1, 1, 0}}, fields), "the step of field 'x' along axis 'time'"));
  CHECK(contains(refusal({{"z"}}, fields),
                 "no array has axis 'z': x: uint32[time 4, y 6]. Name dimensions by rename_array"));
  CHECK(contains(refusal({{2}}, fields), "has no axis 2"));
  CHECK(contains(refusal({{-3}}, fields), "has no axis -3"));
  CHECK(contains(refusal({{"time"}, {"time"}}, fields), "two windows are along axis 'time'"));
  CHECK(contains(refusal({{"time"}, {0}}, fields), "axis 0 and axis 'time' are one axis"));
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  CHECK(contains(refusal({{"time", most}}, fields), "is larger than any array"));
  CHECK(contains(refusal({{"time", 3, 1, most / 2 + 1}}, fields), "is larger than any array"));
  CHECK(contains(
      refusal({{"time"}}, {{"x", {x}, {{"time", std::numeric_limits<std::int64_t>::min()}}}}),
      "is larger than any array"));
  CHECK(
      contains(refusal({{.axis = "time", .size = 1ULL << 60, .edges = window_edges::pad}}, fields),
               " bits"));
  CHECK(contains(refusal({{.axis = "time", .excluded = {{3, 5}}}}, fields),
                 "the excluded range [3, 5) is not within the 4 elements"));
  CHECK(contains(refusal({{"time"}}, {{"x", {x}, {{"y", 1}}}}), "the samples have none there"));
  CHECK(contains(refusal({{"time"}}, fields, {.draws = 0}), "draws is 0"));
  CHECK(contains(refusal({{"time"}}, {{"x", {x}}, {"y", {make("y", {5}, {"time"})}}}),
                 "have 4 and 5 elements along axis 'time'"));
  CHECK(contains(refusal({{"time"}}, {{"x", {x, make("y", {4, 5}, {"time", "y"})}}}),
                 "cannot be stacked"));
  CHECK(contains(refusal({{.axis = "time", .size = 2, .keep_axis = false}}, fields),
                 "keep_axis is false"));
  CHECK(contains(refusal({{.axis = "time", .edges = window_edges::pad}},
                         {{.name = "x", .arrays = {x}, .pad = -1}}),
                 "pad of field 'x' is -1, which is not a value of uint32"));
  CHECK(contains(refusal({{.axis = "time", .position = window_position::random}}, fields,
                         {.draws = (1ULL << 62) + 1}),
                 "more samples than 62 bits count"));
  CHECK(contains(refusal({{"time"}}, {{"x", {x}}, {"x", {x}}}), "'x'"));
  CHECK(contains(message_of<usage_error>([&] { (void)choose_along(x, "y", {6}); }),
                 "has no index 6 along axis 'y'; its last one is 5"));
  CHECK(contains(message_of<usage_error>([] {
                   (void)make_memory_array({.name = "x", .shape = {1ULL << 40, 1ULL << 40}},
                                           std::vector<std::uint8_t>(1));
                 }),
                 "63 bits"));
}

TEST_CASE("windows: a pad that its type would change is refused", "[arrays][host]") {
  const auto [type, pad] = GENERATE(table<element_type, double>({{element_type::boolean, 2},
                                                                 {element_type::boolean, 0.5},
                                                                 {element_type::f16, 65536},
                                                                 {element_type::bf16, -3.4e38},
                                                                 {element_type::f32, 1e300},
                                                                 {element_type::i8, -129},
                                                                 {element_type::u64, 0.5}}));
  const std::vector<std::byte> bytes(size_bytes(type));
  const array_ptr x =
      make_memory_array({.name = "x", .type = type, .shape = {1}}, std::span{bytes});
  CHECK(contains(refusal({{.axis = 0, .edges = window_edges::pad}},
                         {{.name = "x", .arrays = {x}, .pad = pad}}),
                 "which is not a value of " + std::string{to_string(type)}));
}

TEST_CASE("windows: packed numbers that are read as stored are told once", "[arrays][host]") {
  const log_capture log;
  const auto packed = make_memory_array(
      {.name = "t", .path = "t0.nc", .shape = {4}, .packing = {.scale_factor = {{0.1, false}}}},
      std::vector<std::int16_t>(4));
  (void)make_windows({{0}}, {{"t", {packed}}, {"u", {packed}}});
  const auto first = log.text().find("t0.nc: array 't' is read as it is stored");
  CHECK(first != std::string::npos);
  CHECK(log.text().find("is read as it is stored", first + 40) == std::string::npos);
  (void)make_windows({{0}}, {{"t", {unpack(packed)}}});
}

TEST_CASE("windows: a chunk is read once for all windows of a read that need it",
          "[arrays][host]") {
  const std::vector<std::uint64_t> shape{40, 8};
  const auto record = std::make_shared<numbered_chunks::record>();
  const auto array = detail::make_chunked_array(
      {.name = "x", .type = element_type::u32, .shape = shape, .chunk = {10, 8}},
      std::make_unique<const numbered_chunks>(shape, std::vector<std::uint64_t>{10, 8}, record),
      std::vector<std::byte>(4), 0);
  const auto set = make_windows({{0, 4}}, {{"x", {array}}, {"y", {array}, {{0, 1, 2}}}});
  CHECK(set->chunks().samples == 10);
  CHECK(set->chunks().kept == 4);
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i < set->size(); ++i) samples.push_back({i});
  std::vector<std::byte> x(samples.size() * 4 * 8 * 4);
  std::vector<std::byte> y(samples.size() * 2 * 8 * 4);
  const std::vector<std::span<std::byte>> out{x, y};
  set->read(samples, out);
  CHECK(record->reads == 4);
  record->absent = {1};
  const auto absent = read(set, 0, 9);
  CHECK(absent[0] == 9 * 8);
  CHECK(absent[8] == 0);
}

TEST_CASE("windows: an error names the first sample that needs a damaged chunk", "[arrays][host]") {
  const std::vector<std::uint64_t> shape{30};
  const auto record = std::make_shared<numbered_chunks::record>();
  record->damaged = {1};
  const auto array = detail::make_chunked_array(
      {.name = "x", .type = element_type::u32, .shape = shape, .chunk = {10}},
      std::make_unique<const numbered_chunks>(shape, std::vector<std::uint64_t>{10}, record),
      std::vector<std::byte>(4), 0);
  const auto set = make_windows({{0, 3}}, {{"x", {array}}});
  std::vector<sample_index> samples{{2}, {25}, {9}, {12}};
  std::vector<std::byte> x(samples.size() * 3 * 4);
  const std::vector<std::span<std::byte>> out{x};
  CHECK(message_of<dataset_error>([&] { set->read(samples, out); }) ==
        "chunks: field 'x', sample 9: chunk 1 is damaged");
}
