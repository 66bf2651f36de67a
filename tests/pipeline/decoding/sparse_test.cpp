/// Rows of sparse matrices that the device makes dense: the same batches as readers make.

#include <feedline/arrays/csr.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/stored_chunks.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using record_ptr = std::shared_ptr<stored_chunks::record>;

struct delivered {
  std::vector<std::vector<std::byte>> batches = {};  ///< all fields of each
  std::optional<std::string> error = {};
  std::string note = {};
  decode_on decodes = decode_on::cpu;
};

delivered deliver(const dataset_ptr& set, decode_on who, loader_options options = {},
                  const sampler& order = shuffle{.seed = 5}, std::uint64_t epoch = 0,
                  const std::optional<loader_state>& seek = {}) {
  const scripted on;
  if (options.batch_size == 1) options.batch_size = 4;
  options.placement = placement::stream;
  options.decode_on = who;
  loader loader{set, order, on.device, options};
  delivered seen{.note = loader.plan().decode_note, .decodes = loader.plan().decode_on};
  if (seek) loader.seek(*seek);
  try {
    for (const batch& batch : loader.epoch(epoch, on.stream)) {
      on.device->drain(on.stream);
      auto& all = seen.batches.emplace_back();
      for (const field& each : set->fields()) {
        const auto bytes = batch[each.name].bytes();
        all.insert(all.end(), bytes.begin(), bytes.end());
      }
    }
  } catch (const stage_error& failure) {
    seen.error = failure.what();
  }
  return seen;
}

template <class Value, class Column>
struct drawn_matrix {
  std::vector<Value> data = {};
  std::vector<Column> indices = {};
  std::vector<std::int64_t> indptr{0};
  std::uint64_t columns = 0;
};

/// @param rising Each row's columns rise; else they come in any order, and some twice.
template <class Value, class Column>
drawn_matrix<Value, Column> draw(std::mt19937& random, std::uint64_t rows, bool rising,
                                 std::uint64_t columns, std::uint64_t most) {
  drawn_matrix<Value, Column> made;
  made.columns = columns;
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::vector<Column> own;
    for (std::uint64_t n = random() % (most + 1); n > 0; --n)
      own.push_back(static_cast<Column>(random() % columns));
    if (rising) {
      std::ranges::sort(own);
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    for (const Column column : own) {
      made.indices.push_back(column);
      Value value = static_cast<Value>(random() % 1000);
      if constexpr (std::is_floating_point_v<Value>) {
        value = value / Value{7};
        if (random() % 50 == 0) value = -Value{0};
        if (random() % 50 == 0) value = std::numeric_limits<Value>::quiet_NaN();
      }
      made.data.push_back(value);
    }
    made.indptr.push_back(static_cast<std::int64_t>(made.data.size()));
  }
  if (made.data.empty()) {
    made.data.push_back({});
    made.indices.push_back({});
    made.indptr.back() = 1;
  }
  return made;
}

template <class Value>
constexpr element_type type_of = std::is_same_v<Value, float>           ? element_type::f32
                                 : std::is_same_v<Value, double>        ? element_type::f64
                                 : std::is_same_v<Value, std::uint8_t>  ? element_type::u8
                                 : std::is_same_v<Value, std::int16_t>  ? element_type::i16
                                 : std::is_same_v<Value, std::uint16_t> ? element_type::u16
                                 : std::is_same_v<Value, std::int32_t>  ? element_type::i32
                                                                        : element_type::i64;

template <class Value>
array_ptr in_memory(const char* name, const std::vector<Value>& values) {
  return make_memory_array({.name = name, .type = type_of<Value>, .shape = {values.size()}},
                           std::vector<Value>{values});
}

/// Chunks in which values and columns are stored; 0: they are in memory.
struct chunk_lengths {
  std::uint64_t data = 0;
  std::uint64_t indices = 0;
};

template <class Value, class Column>
dataset_ptr rows_of(const drawn_matrix<Value, Column>& of, chunk_lengths chunks,
                    const record_ptr& record = std::make_shared<stored_chunks::record>(),
                    const char* name = "X") {
  return make_csr_dataset(
      name, {.data = chunks.data == 0
                         ? in_memory("data", of.data)
                         : make_stored_line("data", type_of<Value>, of.data, chunks.data, record),
             .indices = chunks.indices == 0 ? in_memory("indices", of.indices)
                                            : make_stored_line("indices", type_of<Column>,
                                                               of.indices, chunks.indices, record),
             .indptr = in_memory("indptr", of.indptr),
             .columns = of.columns});
}

/// A matrix of which few values are not 0.
drawn_matrix<float, std::int32_t> usual_matrix(std::uint64_t rows = 50,
                                               std::uint64_t columns = 200) {
  std::mt19937 random{11};
  return draw<float, std::int32_t>(random, rows, true, columns, 10);
}

template <class Value, class Column>
void check_types(std::mt19937& random) {
  for (const bool rising : {true, false}) {
    const std::uint64_t columns = 1 + random() % 100;
    const auto of = draw<Value, Column>(random, 1 + random() % 60, rising, columns, 12);
    const std::uint64_t lengths[] = {0, 1 + random() % 9, 10 + random() % 100};
    for (const std::uint64_t data : lengths)
      for (const std::uint64_t indices : lengths) {
        const auto record = std::make_shared<stored_chunks::record>();
        for (int i = 0; i < 3; ++i) record->absent.insert(random() % 20);
        const dataset_ptr set = rows_of(of, {data, indices}, record);
        CAPTURE(rising, columns, data, indices, set->size());
        const loader_options options{.readers = static_cast<int>(random() % 3)};
        const delivered expected = deliver(set, decode_on::cpu, options);
        record->reads = 0;
        const delivered seen = deliver(set, decode_on::device, options);
        REQUIRE(seen.error == std::nullopt);
        CHECK(seen.note.empty());
        CHECK(seen.decodes == decode_on::device);
        REQUIRE(seen.batches == expected.batches);
        if (data != 0 && indices != 0) CHECK(record->reads == 0);
      }
  }
}

}  // namespace

TEST_CASE("sparse rows made dense on the device: those that readers make, from random matrices",
          "[loader][host]") {
  const auto seed = GENERATE(range(0U, 5U));
  CAPTURE(seed);
  std::mt19937 random{seed};
  check_types<float, std::int32_t>(random);
  check_types<double, std::int64_t>(random);
  check_types<std::uint8_t, std::uint8_t>(random);
  check_types<std::int16_t, std::uint16_t>(random);
  check_types<std::int32_t, std::int32_t>(random);
  check_types<std::int64_t, std::int16_t>(random);
}

TEST_CASE("sparse rows made dense on the device: chunks are sent once while they are kept",
          "[loader][host]") {
  const auto record = std::make_shared<stored_chunks::record>();
  const auto of = usual_matrix();
  const dataset_ptr set = rows_of(of, {16, 24}, record);
  const delivered seen = deliver(set, decode_on::device, {.readers = 2});
  CHECK(seen.batches == deliver(rows_of(of, {}), decode_on::cpu).batches);
  CHECK(record->reads == 0);
  CHECK(record->stored_reads <= (of.data.size() + 15) / 16 + (of.data.size() + 23) / 24);
  for (const std::size_t bytes : {6000U, 20000U, 60000U}) {  // some are sent again
    const loader_options few{.readers = 2, .memory = {.cache = bytes}};
    CHECK(deliver(set, decode_on::device, few).batches == seen.batches);
  }
}

TEST_CASE("sparse rows made dense on the device: shards, resuming, labels, subsets, conversions",
          "[loader][host]") {
  const auto of = usual_matrix();
  const auto record = std::make_shared<stored_chunks::record>();
  const chunk_lengths stored = GENERATE(chunk_lengths{}, chunk_lengths{16, 16});
  const dataset_ptr set = rows_of(of, stored, record);
  CAPTURE(stored.data);
  for (const int rank : {0, 1}) {
    const loader_options options{
        .batch_size = 3, .shard = {.rank = rank, .world = 2}, .readers = 2};
    CHECK(deliver(set, decode_on::device, options).batches ==
          deliver(set, decode_on::cpu, options).batches);
  }
  const auto all = deliver(set, decode_on::cpu, {}, shuffle{.seed = 5}, 1);
  const scripted on;
  loader begun{set,
               shuffle{.seed = 5},
               on.device,
               {.batch_size = 4,
                .readers = 1,
                .placement = placement::stream,
                .decode_on = decode_on::device}};
  std::uint64_t taken = 0;
  for (const batch& each : begun.epoch(1, on.stream)) {
    on.device->drain(on.stream);
    CHECK(std::ranges::equal(each["X"].bytes(), all.batches[taken]));
    if (++taken == 3) break;
  }
  const auto rest =
      deliver(set, decode_on::device, {.readers = 0}, shuffle{.seed = 5}, 1, begun.state());
  REQUIRE(rest.batches.size() + taken == all.batches.size());
  CHECK(std::equal(rest.batches.begin(), rest.batches.end(), all.batches.begin() + 3));

  const dataset_ptr labelled = zip({set, make_identity_rows(set->size(), 3)});
  const dataset_ptr half = subset(labelled, sample_index{7}, set->size() / 2);
  std::mt19937 random{12};  // its chunks are other ones
  const dataset_ptr beside =
      rows_of(draw<float, std::int32_t>(random, 50, true, 150, 10), stored, record, "Y");
  for (const dataset_ptr& composed : {labelled, half, zip({set, beside})}) {
    const delivered expected = deliver(composed, decode_on::cpu, {.readers = 2});
    record->reads = 0;
    const delivered seen = deliver(composed, decode_on::device, {.readers = 2});
    CHECK(seen.decodes == decode_on::device);
    CHECK(seen.batches == expected.batches);
    CHECK(record->reads == 0);
  }
  const loader_options halves{
      .readers = 2, .transforms = {{.field = "X", .to = element_type::f16, .scale = 0.5}}};
  const delivered converted = deliver(set, decode_on::device, halves);
  CHECK(converted.decodes == decode_on::device);
  CHECK(converted.batches == deliver(set, decode_on::cpu, halves).batches);
}

TEST_CASE(
    "sparse rows beside encoded blocks: the device decodes those, and makes rows dense if it can",
    "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 4U);
  const chunk_lengths stored = GENERATE(chunk_lengths{}, chunk_lengths{16, 16});
  CAPTURE(rows, stored.data);
  const auto record = std::make_shared<stored_chunks::record>();
  const dataset_ptr sparse = rows_of(usual_matrix(), stored, record);
  const auto script = std::make_shared<encoded_script>();
  const dataset_ptr set =
      zip({sparse, make_encoded(make_identity_rows(sparse->size(), 5), rows, script)});
  const sampler order = rows == 1 ? sampler{shuffle{.seed = 5}} : sampler{sequential{}};
  const delivered expected = deliver(set, decode_on::cpu, {.readers = 2}, order);
  script->sample_reads = 0;
  record->reads = 0;
  const delivered seen = deliver(set, decode_on::device, {.readers = 2}, order);
  CHECK(seen.note.empty());
  CHECK(seen.decodes == decode_on::device);
  CHECK(seen.batches == expected.batches);
  CHECK(script->block_reads != 0);
  CHECK(script->sample_reads == 0);
  if (rows == 1) CHECK(record->reads == 0);
  if (rows != 1) CHECK(record->stored_reads == 0);
}

TEST_CASE("sparse rows made dense on the device: damage gives the reader's error",
          "[loader][host]") {
  auto of = usual_matrix();
  const auto record = std::make_shared<stored_chunks::record>();
  const bool columns = GENERATE(true, false);
  const chunk_lengths stored =
      columns ? GENERATE(chunk_lengths{}, chunk_lengths{16, 16}) : chunk_lengths{16, 16};
  if (columns)
    of.indices[of.indices.size() / 2] = GENERATE(200, -1);
  else
    record->damaged = {5};
  const dataset_ptr set = rows_of(of, stored, record);
  for (const int readers : {0, 2}) {
    const auto expected = deliver(set, decode_on::cpu, {.readers = readers}, sequential{});
    const auto seen = deliver(set, decode_on::device, {.readers = readers}, sequential{});
    REQUIRE(expected.error);
    CHECK(seen.error == expected.error);
    CHECK(seen.batches == expected.batches);
  }
}

TEST_CASE("sparse rows made dense on the device: what readers do, and why", "[loader][host]") {
  const auto of = usual_matrix(4200, 1000);
  const auto record = std::make_shared<stored_chunks::record>();
  record->filter = block_filter::bit_shuffle;  // the device refuses it
  const dataset_ptr set = rows_of(of, {64, 64}, record);
  const delivered seen = deliver(set, decode_on::device, {.batch_size = 64, .readers = 2});
  CHECK(seen.decodes == decode_on::device);
  CHECK(contains(seen.note, "readers decode chunks, and the device makes rows dense"));
  CHECK(contains(seen.note, "array 'data'"));
  CHECK(record->reads > 0);
  const delivered expected = deliver(set, decode_on::cpu, {.batch_size = 64, .readers = 2});
  CHECK(seen.batches == expected.batches);

  // The default does the same if rows are sparse, and leaves chunks to readers.
  const auto decodable = std::make_shared<stored_chunks::record>();
  const dataset_ptr by_default = rows_of(of, {64, 64}, decodable);
  const delivered automatic =
      deliver(by_default, decode_on::automatic, {.batch_size = 64, .readers = 2});
  CHECK(automatic.decodes == decode_on::device);
  CHECK(decodable->stored_reads == 0);
  CHECK(automatic.batches == expected.batches);
  std::mt19937 random{3};
  const auto full = draw<float, std::int32_t>(random, 4200, true, 40, 60);
  const delivered dense = deliver(rows_of(full, {}), decode_on::automatic, {.batch_size = 64});
  CHECK(dense.decodes == decode_on::cpu);
  CHECK(contains(dense.note, "when it is dense"));

  loader_options skips{.batch_size = 64, .readers = 2};
  skips.errors.action = error_action::skip;
  const delivered skipping = deliver(by_default, decode_on::device, skips);
  CHECK(skipping.decodes == decode_on::cpu);
  CHECK(contains(skipping.note, "error policy"));
  CHECK(skipping.batches == expected.batches);
}
