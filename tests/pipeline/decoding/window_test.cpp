/// Windows of arrays whose chunks the device decodes: the same batches as readers make.

#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/coded_chunks.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using record_ptr = std::shared_ptr<coded_chunks::record>;

struct delivered {
  std::vector<std::vector<std::byte>> batches = {};  ///< all fields of each
  std::optional<std::string> error = {};
  std::string note;
};

/// Delivers an epoch. @param seek Where to begin. @param most Batches.
delivered deliver(const dataset_ptr& set, decode_on who, loader_options options = {},
                  const sampler& order = shuffle{.seed = 5}, std::uint64_t epoch = 0,
                  const std::optional<loader_state>& seek = {}) {
  const scripted on;
  if (options.batch_size == 1) options.batch_size = 4;
  options.seed = 7;
  options.placement = placement::stream;
  options.decode_on = who;
  loader loader{set, order, on.device, options};
  delivered seen{.note = loader.plan().decode_note};
  if (seek) loader.seek(*seek);
  const auto fields = set->fields();
  try {
    for (const batch& batch : loader.epoch(epoch, on.stream)) {
      on.device->drain(on.stream);
      auto& all = seen.batches.emplace_back();
      for (const field& each : fields) {
        const auto bytes = batch[each.name].bytes();
        all.insert(all.end(), bytes.begin(), bytes.end());
      }
    }
  } catch (const stage_error& failure) {
    seen.error = failure.what();
  }
  return seen;
}

/// An array of two bytes an element, and windows along all of its axes.
struct grid_case {
  record_ptr record = std::make_shared<coded_chunks::record>();
  array_ptr array;
  std::vector<window> windows;
};

grid_case grid_of(std::mt19937& random) {
  const auto below = [&](std::uint64_t end) { return random() % end; };
  const element_type types[] = {element_type::u8, element_type::u16, element_type::f32,
                                element_type::f64};
  grid_case made;
  const std::size_t rank = 1 + below(4);
  array_spec spec{.name = "x", .type = types[below(4)]};
  std::uint64_t chunks = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    spec.shape.push_back(3 + below(d == 0 ? 40 : 12));
    spec.chunk.push_back(1 + below(spec.shape[d]));
    spec.dimensions.push_back(std::string(1, static_cast<char>('a' + d)));
    chunks *= (spec.shape[d] + spec.chunk[d] - 1) / spec.chunk[d];
    if (d > 0 && below(4) == 0) continue;  // samples have all of this axis
    window along{.axis = spec.dimensions[d]};
    along.size = 1 + below(std::min<std::uint64_t>(spec.shape[d], 6));
    along.step = 1 + below(2);
    along.edges = static_cast<window_edges>(below(3));
    if ((along.size - 1) * along.step >= spec.shape[d]) along.step = 1;
    along.stride = 1 + below(3);
    along.position = static_cast<window_position>(below(2));
    along.keep_axis = along.size != 1 || below(2) == 0;
    made.windows.push_back(along);
  }
  for (std::uint64_t i = 0; i < chunks / 4; ++i) made.record->absent.insert(below(chunks));
  made.array = make_coded_array(std::move(spec), made.record);
  return made;
}

grid_case plain_case(std::uint64_t times = 30) {
  grid_case made;
  made.array = make_coded_array({.name = "x",
                                 .type = element_type::u16,
                                 .shape = {times, 16, 16},
                                 .dimensions = {"t", "y", "x"},
                                 .chunk = {4, 8, 8}},
                                made.record);
  made.windows = {{"t", 2},
                  {.axis = "y", .size = 8, .position = window_position::random},
                  {.axis = "x", .size = 8, .position = window_position::random}};
  return made;
}

dataset_ptr windows_of(const grid_case& from) {
  return make_windows(from.windows, {{"input", {from.array}}});
}

}  // namespace

TEST_CASE("windows decoded on the device: those that readers cut, from random grids",
          "[loader][host]") {
  const auto seed = GENERATE(range(0U, 60U));
  std::mt19937 random{seed};
  const grid_case from = grid_of(random);
  const auto set =
      make_windows(from.windows, {{.name = "v", .arrays = {from.array}, .pad = 3}}, {.draws = 2});
  CAPTURE(seed, to_string(from.array->spec()), set->size());
  const auto epoch = random() % 3;
  const delivered expected =
      deliver(set, decode_on::cpu, {.readers = 2}, shuffle{.seed = 5}, epoch);
  const std::uint64_t reads = from.record->reads;
  const delivered seen = deliver(set, decode_on::device, {.readers = static_cast<int>(seed % 4)},
                                 shuffle{.seed = 5}, epoch);
  CHECK(seen.note.empty());
  CHECK(seen.error == std::nullopt);
  CHECK(seen.batches == expected.batches);
  CHECK(from.record->reads == reads);
}

TEST_CASE("windows decoded on the device: a chunk is sent once while it is kept",
          "[loader][host]") {
  const grid_case from = plain_case();
  const delivered seen = deliver(windows_of(from), decode_on::device, {.readers = 2});
  CHECK(seen.batches.size() == 8);
  CHECK(from.record->stored_reads <= 32);  // there are 32 chunks
  CHECK(from.record->reads == 0);
}

TEST_CASE("windows decoded on the device: with little memory chunks are replaced, and sent again",
          "[loader][host]") {
  const grid_case from = plain_case(800);  // 800 chunks of 512 bytes
  const auto set = windows_of(from);
  const delivered expected = deliver(set, decode_on::cpu);
  for (const std::size_t kilobytes : {160U, 400U}) {
    from.record->stored_reads = 0;
    const delivered seen =
        deliver(set, decode_on::device, {.readers = 3, .memory = {.device = kilobytes << 10U}});
    CHECK(seen.note.empty());
    CHECK(seen.batches == expected.batches);
    CHECK(from.record->stored_reads > 800);
  }
  from.record->stored_reads = 0;
  const delivered in_order = deliver(set, decode_on::cpu, {}, sequential{});
  const delivered near = deliver(set, decode_on::device, {.readers = 3}, sequential{});
  CHECK(near.batches == in_order.batches);
  CHECK(from.record->stored_reads <= 800);
  // Chunks of few samples are kept: groups end where a chunk replaces one that they need.
  for (const std::size_t bytes : {6000U, 20000U}) {
    const loader_options few{.readers = 3, .memory = {.cache = bytes}};
    CHECK(deliver(set, decode_on::device, few).batches == expected.batches);
    CHECK(deliver(set, decode_on::device, few, sequential{}).batches == in_order.batches);
  }
}

TEST_CASE("windows decoded on the device: several arrays and fields share chunks, others are rows",
          "[loader][host]") {
  const auto a = std::make_shared<coded_chunks::record>();
  const auto b = std::make_shared<coded_chunks::record>();
  const array_spec spec{.name = "x",
                        .type = element_type::i16,
                        .shape = {20, 3, 9},
                        .dimensions = {"t", "level", "x"},
                        .chunk = {3, 2, 4}};
  const array_ptr first = rename_array(make_coded_array(spec, a), "first", {});
  const array_ptr second = make_coded_array(spec, b);
  const array_ptr unpacked = unpack(second, {.type = element_type::f32});
  const auto set =
      make_windows({{"t", 2}}, {{.name = "input",
                                 .arrays = {first, second},
                                 .windows = {{"t", -2, 2}},
                                 .channels = {"level"},
                                 .channel_axis = 1},
                                {.name = "target", .arrays = {first}, .windows = {{"t", 1, 1}}},
                                {.name = "values", .arrays = {unpacked}}});
  const delivered expected = deliver(set, decode_on::cpu, {.batch_size = 3, .readers = 2});
  a->reads = 0;
  const delivered seen = deliver(set, decode_on::device, {.batch_size = 3, .readers = 2});
  CHECK(seen.note.empty());
  CHECK(seen.batches == expected.batches);
  CHECK(a->reads == 0);
  CHECK(a->stored_reads <= 42);
}

TEST_CASE("windows decoded on the device: shards, resuming, windows of the order",
          "[loader][host]") {
  const grid_case from = plain_case();
  const auto set = windows_of(from);
  for (const int rank : {0, 1}) {
    const loader_options options{
        .batch_size = 3, .shard = {.rank = rank, .world = 2}, .readers = 2};
    const auto expected = deliver(set, decode_on::cpu, options);
    CHECK(deliver(set, decode_on::device, options).batches == expected.batches);
  }
  const sampler near = shuffle{.seed = 2, .within = chunks(2)};
  const auto all = deliver(set, decode_on::cpu, {.readers = 2}, near, 1);
  CHECK(deliver(set, decode_on::device, {.readers = 2}, near, 1).batches == all.batches);

  const scripted on;
  loader begun{set,
               near,
               on.device,
               {.batch_size = 4,
                .readers = 1,
                .placement = placement::stream,
                .decode_on = decode_on::device,
                .seed = 7}};
  std::uint64_t taken = 0;
  for (const batch& each : begun.epoch(1, on.stream)) {
    on.device->drain(on.stream);
    CHECK(std::ranges::equal(each["input"].bytes(), all.batches[taken]));
    if (++taken == 3) break;
  }
  const auto rest = deliver(set, decode_on::device, {.readers = 0}, near, 1, begun.state());
  REQUIRE(rest.batches.size() + taken == all.batches.size());
  CHECK(std::equal(rest.batches.begin(), rest.batches.end(), all.batches.begin() + 3));
  // The same loader continues after the pass that was abandoned.
  std::uint64_t again = 0;
  for (const batch& each : begun.epoch(1, on.stream)) {
    on.device->drain(on.stream);
    CHECK(std::ranges::equal(each["input"].bytes(), all.batches[again++]));
  }
}

TEST_CASE(
    "windows beside blocks of another kind: readers cut them, and the device decodes the rest",
    "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 4U);
  grid_case from = plain_case(33);
  if (rows != 1) from.windows = {{"t", 2}};  // drawn ones would need the context of each sample
  const auto script = std::make_shared<encoded_script>();
  const dataset_ptr cut = windows_of(from);
  const dataset_ptr others = make_encoded(make_identity_rows(cut->size(), 5), rows, script);
  const dataset_ptr set = zip({cut, others});
  const sampler order = rows == 1 ? sampler{shuffle{.seed = 5}} : sampler{sequential{}};
  const delivered expected = deliver(set, decode_on::cpu, {.readers = 2}, order);
  CHECK(script->block_reads == 0);
  script->sample_reads = 0;
  const delivered seen = deliver(set, decode_on::device, {.readers = 2}, order);
  CHECK(seen.note.empty());
  CHECK(seen.batches == expected.batches);
  CHECK(script->block_reads != 0);
  CHECK(script->sample_reads == 0);
  CHECK(from.record->stored_reads == 0);
}

TEST_CASE("windows decoded on the device: also those of a subset, and beside other datasets",
          "[loader][host]") {
  const grid_case from = plain_case();
  const grid_case other = plain_case();
  const auto set = windows_of(from);
  const auto beside = make_windows(other.windows, {{"target", {other.array}}});
  const auto joined = zip({set, make_identity_rows(set->size(), 5), beside});
  for (const dataset_ptr& composed :
       {joined, subset(set, sample_index{3}, 20), subset(joined, sample_index{3}, 20),
        select(joined, std::vector<selected_field>{{"target"}, {"id"}})}) {
    const delivered expected = deliver(composed, decode_on::cpu, {.readers = 2});
    from.record->reads = other.record->reads = 0;
    const delivered seen = deliver(composed, decode_on::device, {.readers = 2});
    CHECK(seen.note.empty());
    CHECK(seen.error == std::nullopt);
    CHECK(seen.batches == expected.batches);
    CHECK(from.record->reads == 0);
    CHECK(other.record->reads == 0);
  }
}

TEST_CASE("windows decoded on the device: chunks that fail give the reader's error",
          "[loader][host]") {
  const bool damages = GENERATE(true, false);
  const grid_case from = plain_case();
  (damages ? from.record->damaged : from.record->unreadable) = {9, 17};
  const auto set = windows_of(from);
  for (const int readers : {0, 2}) {
    const auto expected = deliver(set, decode_on::cpu, {.readers = readers}, sequential{});
    const auto seen = deliver(set, decode_on::device, {.readers = readers}, sequential{});
    REQUIRE(expected.error);
    CHECK(seen.error == expected.error);
    CHECK(seen.batches == expected.batches);
  }
}

TEST_CASE("windows decoded on the device: what it cannot do is told", "[loader][host]") {
  const grid_case from = plain_case();
  const auto set = windows_of(from);
  const auto note = [](const dataset_ptr& of, decode_on who = decode_on::device) {
    const scripted on;
    return loader{of,
                  shuffle{.seed = 5},
                  on.device,
                  {.batch_size = 4, .placement = placement::stream, .decode_on = who}}
        .plan()
        .decode_note;
  };
  CHECK(note(set).empty());
  CHECK(contains(note(set, decode_on::automatic), "only if that is asked for"));
  CHECK(contains(note(concatenate({set, set})), "part of another one"));

  const auto other = std::make_shared<coded_chunks::record>();
  other->filter = block_filter::bit_shuffle;
  const auto array = make_coded_array(
      {.name = "q", .shape = {12, 4}, .dimensions = {"t", "x"}, .chunk = {3, 3}}, other);
  const std::string why = note(make_windows({{"t"}}, {{"q", {array}}}));
  CHECK(contains(why, "array 'q'"));
  CHECK(contains(why, "bit shuffle"));
  CHECK(contains(note(make_windows({{"t"}}, {{"q", {unpack(array, {})}}})), "not stored in"));
}
