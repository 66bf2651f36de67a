/// Windows of arrays through a whole loader: readers, shards, resuming, and error policies.

#include <feedline/arrays/windows.hpp>
#include <feedline/dataset/read_request.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/numbered_chunks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using words = std::vector<std::uint32_t>;

const std::vector<std::uint64_t> shape{60, 7, 11};
const std::vector<std::uint64_t> chunk{8, 7, 4};

/// Two times and a random patch of one position, in chunks of which few are kept.
dataset_ptr windows_of(const std::shared_ptr<numbered_chunks::record>& record,
                       window_position position = window_position::random) {
  const auto array =
      detail::make_chunked_array({.name = "x",
                                  .type = element_type::u32,
                                  .shape = shape,
                                  .dimensions = {"time", "y", "x"},
                                  .chunk = chunk},
                                 std::make_unique<const numbered_chunks>(shape, chunk, record),
                                 std::vector<std::byte>(4), 8 * chunk[0] * chunk[1] * chunk[2] * 4);
  return make_windows({{"time", 2},
                       {.axis = "y", .size = 3, .position = position},
                       {.axis = "x", .size = 3, .position = position}},
                      {{"input", {array}}, {"target", {array}, {{"time", 2, 1}}}});
}

/// All batches of an epoch, from wherever the loader is.
std::vector<words> batches(loader& from, std::uint64_t epoch, std::uint64_t most = ~0ULL) {
  std::vector<words> all;
  for (batch& each : from.epoch(epoch)) {
    words values;
    for (const char* const field : {"input", "target"}) {
      const auto own = each[field].values<std::uint32_t>();
      values.insert(values.end(), own.begin(), own.end());
    }
    all.push_back(std::move(values));
    if (all.size() == most) break;
  }
  return all;
}

loader make(const dataset_ptr& set, int readers, loader_options options = {}) {
  options.batch_size = 4;
  options.readers = readers;
  options.seed = 11;
  return {set, shuffle{.seed = 3}, make_host_device(), options};
}

}  // namespace

TEST_CASE("pipeline: windows are the same with 0, 1 and 8 readers, and differ between epochs",
          "[pipeline][host]") {
  const auto record = std::make_shared<numbered_chunks::record>();
  std::vector<std::vector<words>> first;
  for (const int readers : {0, 1, 8}) {
    loader from = make(windows_of(record), readers);
    std::vector<std::vector<words>> epochs{batches(from, 0), batches(from, 1)};
    CHECK(epochs[0] != epochs[1]);
    if (first.empty()) first = epochs;
    CHECK(epochs == first);
  }
  CHECK(first[0].size() == 15);
}

TEST_CASE("pipeline: windows continue from a state, by another number of readers",
          "[pipeline][host]") {
  const auto record = std::make_shared<numbered_chunks::record>();
  const auto set = windows_of(record);
  loader whole = make(set, 2);
  const auto all = batches(whole, 0);
  loader begun = make(set, 1);
  const auto front = batches(begun, 0, 6);
  const loader_state state = begun.state();
  loader resumed = make(set, 0);
  resumed.seek(state);
  const auto rest = batches(resumed, 0);
  REQUIRE(front.size() + rest.size() == all.size());
  CHECK(std::equal(front.begin(), front.end(), all.begin()));
  CHECK(std::equal(rest.begin(), rest.end(), all.begin() + 6));
}

TEST_CASE("pipeline: windows of all shards are those of one loader", "[pipeline][host]") {
  const auto record = std::make_shared<numbered_chunks::record>();
  const auto set = windows_of(record);
  const auto samples_of = [&](int rank, int world, std::uint64_t size) {
    std::vector<words> samples;
    loader_options options{.batch_size = size, .seed = 11};
    options.shard = {.rank = rank, .world = world};
    options.readers = 1;
    loader from{set, shuffle{.seed = 3}, make_host_device(), options};
    for (batch& each : from.epoch(0)) {
      const auto* const first = each["input"].data<std::uint32_t>();
      for (std::uint64_t i = 0; i < each.size(); ++i)
        samples.emplace_back(first + i * 18, first + (i + 1) * 18);
    }
    std::ranges::sort(samples);
    return samples;
  };
  // 58 samples in batches of 2 and 29, so that no shard repeats one.
  auto parts = samples_of(0, 2, 1);
  const auto other = samples_of(1, 2, 1);
  parts.insert(parts.end(), other.begin(), other.end());
  std::ranges::sort(parts);
  CHECK(parts == samples_of(0, 1, 2));
}

TEST_CASE("pipeline: windows on a damaged chunk are left out, and all others come",
          "[pipeline][host]") {
  for (const int readers : {0, 4}) {
    const auto record = std::make_shared<numbered_chunks::record>();
    record->damaged = {3, 4, 5};  // times 8 to 15
    loader_options options;
    options.errors = {.action = error_action::skip,
                      .retries = 1,
                      .first_pause = std::chrono::milliseconds{0},
                      .max_share = 1};
    loader from = make(windows_of(record, window_position::grid), readers, options);
    std::uint64_t samples = 0;
    for (const words& each : batches(from, 0)) samples += each.size() / 27;
    // Positions of the window are 0 to 57 by 5 by 9; those of time 6 to 15 need the chunks: input
    // from t to t + 1, target t + 2.
    CHECK(samples == (58 - 10) * 5 * 9);
    CHECK(from.failures().count == 10 * 5 * 9);
    CHECK(from.failures().first.front().path == "chunks");
  }
}

TEST_CASE("pipeline: an order within chunks decodes each chunk about once", "[pipeline][host]") {
  const auto record = std::make_shared<numbered_chunks::record>();
  const auto set = windows_of(record, window_position::grid);
  const auto chunks = set->chunks();
  CHECK(chunks.samples == 8 * 5 * 9);
  CHECK(chunks.kept == 2);
  loader_options options{.batch_size = 32, .readers = 0};
  loader from{set, shuffle{.seed = 3, .within = feedline::chunks(1)}, make_host_device(), options};
  std::uint64_t count = 0;
  for (batch& each : from.epoch(0)) count += each.size();
  CHECK(count == set->size());
  CHECK(record->reads < 3 * 24);
  CHECK(record->reads >= 24);
}

TEST_CASE("pipeline: patches in three dimensions decode each chunk once for a window of the order",
          "[pipeline][host]") {
  const std::vector<std::uint64_t> extents{96, 32, 32};
  const std::vector<std::uint64_t> block{8, 8, 8};
  constexpr std::uint64_t all_chunks = 12 * 4 * 4;
  const std::uint64_t size = GENERATE(4U, 8U, 6U);  // patches of 6 cut chunks in every dimension
  // Two windows of three rows of patches, and the slabs that they extend over.
  const std::uint64_t slabs = size == 6 ? 12 : 9;
  const auto record = std::make_shared<numbered_chunks::record>();
  const auto array = detail::make_chunked_array(
      {.name = "x", .type = element_type::u32, .shape = extents, .chunk = block},
      std::make_unique<const numbered_chunks>(extents, block, record), std::vector<std::byte>(4),
      slabs * 16 * 8 * 8 * 8 * 4);
  std::vector<window> patches;
  for (const int axis : {0, 1, 2}) patches.push_back({.axis = axis, .size = size, .stride = size});
  const auto set = make_windows(patches, {{"x", {array}}});
  const auto decoded = [&](int readers, int rank, int world) {
    const std::uint64_t before = record->reads;
    loader_options options{.batch_size = 8, .epochs = 1, .readers = readers};
    options.shard = {.rank = rank, .world = world};
    loader from{set, shuffle{.seed = 3, .within = feedline::chunks(3)}, make_host_device(),
                options};
    std::uint64_t count = 0;
    for (batch& each : from.epoch(0)) count += each.size();
    CHECK(count >= set->size() / static_cast<std::uint64_t>(world));
    return static_cast<double>(record->reads - before) / all_chunks;
  };
  for (const int readers : {0, 2}) {
    const double ratio = decoded(readers, 0, 1);
    INFO(size << " a side, " << readers << " readers: a chunk is decoded " << ratio << " times");
    CHECK(ratio >= 1);
    CHECK(ratio <= 1.1);
  }
}
