/// Resuming: batches after a seek are bitwise those of the undisturbed run, wherever it was cut, on
/// every path, whatever else differs after the cut.

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/class_balanced.hpp>
#include <feedline/sampler/explicit_order.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/take.hpp>
#include <feedline/sampler/weighted.hpp>
#include <feedline/testing/checked.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/sampler_contract.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 79;  // a prime: nothing divides it
constexpr std::uint64_t global_batch = 16;
constexpr std::uint64_t epochs = 2;

std::vector<std::pair<std::string, sampler>> all_samplers() {
  std::vector<std::uint64_t> lengths;
  std::vector<double> weights;
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> indices;
  for (std::uint64_t i = 0; i < sample_count; ++i) {
    lengths.push_back(1 + i * i % 23);
    weights.push_back(static_cast<double>(i % 9));
    labels.push_back(i == 0 ? 0 : i % 3 == 0 ? 1 : 2);
    indices.push_back(i * i % sample_count);
  }
  return {{"sequential", sequential{}},
          {"shuffle", shuffle{.seed = 3}},
          {"windows of chunks", shuffle{.seed = 3, .within = chunks(4)}},
          {"lanes of chunks", shuffle{.seed = 3, .within = chunks(4), .lanes = 4}},
          {"by length", bucket_by_length{lengths, {.seed = 3, .buckets = 4}}},
          {"weighted", weighted{weights, {.seed = 1, .epoch_size = 100}}},
          {"weighted without replacement",
           weighted{weights, {.seed = 1, .epoch_size = 50, .replacement = false}}},
          {"class_balanced", class_balanced{labels, {.seed = 1}}},
          {"mixture", mixture{std::vector<std::uint64_t>{60, 19}, {1, 1}, {.seed = 1}}},
          {"scheduled mixture",
           scheduled_mixture{
               std::vector<std::uint64_t>{60, 19}, {{0, {1, 0}}, {100, {1, 3}}}, {.seed = 1}}},
          {"explicit_order", explicit_order{indices}},
          {"take", take{shuffle{.seed = 1}, 40}},
          {"checked", checked{shuffle{.seed = 1}}}};
}

dataset_ptr data_for(data_path through) {
  auto rows = make_identity_rows(sample_count, 11);
  // A dataset with chunks is not in memory, as `gather` needs it.
  if (through == data_path::gather) return rows;
  return make_chunked(std::move(rows), {.samples = 8, .bytes = 160, .kept = 100});
}

/// One setting of a run: options that may differ before and after a cut.
struct manner {
  data_path through = data_path::in_place;
  int readers = no_readers;
  int world = 1;
  loader_options options = {};
};

/// Differs from `cut` to `cut` in all that may differ.
manner some_manner(data_path through, std::uint64_t cut) {
  manner how{.through = through,
             .readers = static_cast<int>(cut % 3),
             .world = cut % 6 == 1   ? 4
                      : cut % 3 == 2 ? 2
                                     : 1,
             .options = {}};
  how.options.expert.batches_per_slot = cut % 4;
  how.options.expert.staging_slots = cut % 2 == 0 ? 0 : 2 + cut % 3;
  how.options.epochs = cut % 5 < 2 ? 0 : epochs;
  how.options.expert.request_bytes = cut % 2 == 0 ? 0 : 100;
  if (cut % 6 == 5) how.options.expert.piece_bytes = 64;
  return how;
}

/// Batches of all ranks joined, without repeats.
using joined = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>>;

/// Continues from `from`, or begins; takes `count` batches, or all. Returns the state after them,
/// which all ranks must have.
std::string run(const manner& how, const sampler& order, const std::string& from,
                std::uint64_t count, joined& into) {
  std::string to;
  for (int rank = 0; rank < how.world; ++rank) {
    const path_setup by{how.through};
    loader_options options = how.options;
    options.shard = {.rank = rank, .world = how.world};
    options.batch_size = options.shard.batch_share(global_batch);
    options.readers = how.readers;
    loader loader = by.load(data_for(how.through), order, options);
    std::uint64_t epoch = 0;
    if (!from.empty()) {
      auto state = loader_state::from_json(from);
      // One of the ways converts a field that is not looked at.
      state.transforms = loader.state().transforms;
      loader.seek(state);
      epoch = state.epoch;
    }
    recorder record{by.looks()};
    std::uint64_t taken = 0;
    for (; epoch < epochs && taken < count; ++epoch) {
      for (batch& batch : loader.epoch(epoch, by.stream)) {
        record(batch);
        if (++taken == count) break;
      }
    }
    const std::string own = to_json(loader.state());
    if (rank > 0) CHECK(own == to);
    to = own;
    for (const seen_batch& batch : record.seen()) {
      REQUIRE(batch.intact);
      const bool last = batch.index + 1 == loader.plan().batches_per_epoch;
      const std::uint64_t repeats = last ? loader.plan().repeats_per_epoch : 0;
      auto& global = into[{batch.epoch, batch.index}];
      global.insert(global.end(), batch.samples.begin(),
                    batch.samples.end() - static_cast<std::ptrdiff_t>(repeats));
    }
  }
  return to;
}

}  // namespace

TEST_CASE(
    "resume: cut at any batch, every order continues as if undisturbed, on every path and onto "
    "every other",
    "[loader][host]") {
  const log_capture unheard;
  const data_path before = GENERATE(from_range(all_data_paths()));
  const auto ways = all_data_paths();
  std::uint64_t number = 0;
  static combinations cases;
  for (const auto& [name, order] : all_samplers()) {
    ++number;
    if (before == data_path::gather && name.find("chunks") != std::string::npos) continue;
    joined expected;
    const manner reference{.through = before};
    (void)run(reference, order, {}, UINT64_MAX, expected);
    REQUIRE(expected.size() >= 2 * epochs);
    for (std::uint64_t cut = 0; cut <= expected.size(); ++cut) {
      // Every cut of every order is made on half of the ways.
      if ((cut + number + static_cast<std::uint64_t>(before)) % 2 == 0) continue;
      if (!cases.takes_next()) continue;
      data_path after = ways[(static_cast<std::size_t>(before) + cut + number) % ways.size()];
      // The order of chunks is not that of rows in memory.
      if (name.find("chunks") != std::string::npos && after == data_path::gather)
        after = data_path::stream;
      INFO(name << ", cut at " << cut << ", " << to_string(before) << ", then "
                << to_string(after));
      joined found;
      const std::string state = run(some_manner(before, cut), order, {}, cut, found);
      CHECK(found.size() == cut);
      (void)run(some_manner(after, cut + 1), order, state, UINT64_MAX, found);
      CHECK(found == expected);
    }
  }
}

TEST_CASE("resume: a run that is cut again and again is the undisturbed one", "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const sampler order = shuffle{.seed = 5};
  joined expected;
  (void)run({.through = through}, order, {}, UINT64_MAX, expected);
  joined found;
  std::string state = run(some_manner(through, 1), order, {}, 1, found);
  for (std::uint64_t cut = 2; found.size() < expected.size(); ++cut)
    state = run(some_manner(through, cut), order, state, 1 + cut % 2, found);
  CHECK(found == expected);
}

namespace {

/// Each sample is random numbers for it in this epoch, and its position.
class drawn final : public dataset {
 public:
  std::uint64_t size() const override { return sample_count; }
  std::vector<field> fields() const override { return {{"drawn", element_type::u64, {2}}}; }
  bool varies_by_epoch() const override { return true; }
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::uint64_t values[] = {request.context[i].random().u64(),
                                      request.context[i].position.value_or(position{0}).value};
      std::memcpy(request.out[0].data() + i * sizeof values, values, sizeof values);
    }
  }
};

/// The bytes of each batch.
std::vector<std::vector<std::uint64_t>> drawn_from(loader& loader, std::uint64_t epoch,
                                                   std::size_t count = SIZE_MAX) {
  std::vector<std::vector<std::uint64_t>> all;
  for (; epoch < epochs && all.size() < count; ++epoch) {
    for (const batch& batch : loader.epoch(epoch)) {
      const auto values = batch["drawn"].values<std::uint64_t>();
      all.emplace_back(values.begin(), values.end());
      if (all.size() == count) break;
    }
  }
  return all;
}

loader of_drawn(int readers) {
  return loader{std::make_shared<const drawn>(),
                shuffle{.seed = 3},
                make_host_device(),
                {.batch_size = 16, .readers = readers, .seed = 9}};
}

}  // namespace

TEST_CASE("resume: random choices of samples are those of the undisturbed run, at every cut",
          "[loader][host]") {
  loader undisturbed = of_drawn(no_readers);
  const auto expected = drawn_from(undisturbed, 0);
  REQUIRE(expected.size() == 10);
  for (std::size_t cut = 0; cut <= expected.size(); ++cut) {
    loader before = of_drawn(2);
    auto found = cut == 0 ? std::vector<std::vector<std::uint64_t>>{} : drawn_from(before, 0, cut);
    loader behind = of_drawn(1);
    const loader_state state = before.state();
    behind.seek(state);
    for (auto& each : drawn_from(behind, state.epoch)) found.push_back(std::move(each));
    CHECK(found == expected);
  }
}

TEST_CASE("resume: conversions of fields are those of the undisturbed run, at random cuts",
          "[loader][host]") {
  const auto seed = GENERATE(std::uint64_t{3}, std::uint64_t{12}, std::uint64_t{17});
  loader_options options{.batch_size = 5, .seed = 4};
  options.transforms = {{.field = "row",
                         .layout = image_layout::hwc,
                         .flip = 0.5,
                         .crop = image_crop{.height = 2, .width = 3, .padding = 1}}};
  std::mt19937 engine{7};
  std::vector<std::uint8_t> bytes(sample_count * 3 * 4);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
  const auto data = make_memory_dataset({own("row", std::move(bytes), {3, 4})});
  const auto pixels = [&](loader& from, std::uint64_t epoch) {
    std::vector<std::vector<float>> all;
    for (; epoch < epochs; ++epoch) {
      for (const batch& batch : from.epoch(epoch)) {
        const auto values = batch["row"].values<float>();
        all.emplace_back(values.begin(), values.end());
      }
    }
    return all;
  };
  loader undisturbed{data, shuffle{.seed = seed}, make_host_device(), options};
  const auto expected = pixels(undisturbed, 0);
  loader_state state = undisturbed.state();
  options.readers = no_readers;
  loader behind{data, shuffle{.seed = seed}, make_host_device(), options};
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t cut = engine() % expected.size();
    CAPTURE(cut);
    state.epoch = cut / undisturbed.plan().batches_per_epoch;
    state.batch = cut % undisturbed.plan().batches_per_epoch;
    behind.seek(state);
    CHECK(pixels(behind, state.epoch) ==
          std::vector(expected.begin() + static_cast<std::ptrdiff_t>(cut), expected.end()));
  }
}

TEST_CASE(
    "resume: at random positions of a large epoch, every path delivers the samples of the order",
    "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  constexpr std::uint64_t large = 100'003;
  constexpr std::uint64_t batch_size = 64;
  CAPTURE(to_string(by.through));
  const sampler order = shuffle{.seed = 8};
  loader loader =
      by.load(make_identity_rows(large, 8), order, {.batch_size = batch_size, .readers = 2});
  std::mt19937_64 engine{5};
  loader_state state = loader.state();
  for (int round = 0; round < 8; ++round) {
    state.epoch = engine() % 1000;
    state.batch = engine() % (loader.plan().batches_per_epoch - 4);
    loader.seek(state);
    recorder record{by.looks()};
    for (batch& batch : loader.epoch(state.epoch, by.stream)) {
      record(batch);
      if (batch.index() == state.batch + 4) break;
    }
    std::vector<std::uint64_t> found;
    for (const seen_batch& batch : record.seen()) {
      REQUIRE(batch.intact);
      found.insert(found.end(), batch.samples.begin(), batch.samples.end());
    }
    const auto first = state.batch * batch_size;
    CHECK(found == run_of(order, large, state.epoch, first,
                          std::min<std::uint64_t>(5 * batch_size, large - first)));
  }
}

namespace {

/// Another sampler, and how many positions were asked of it, up to where.
struct counted {
  std::uint64_t size(std::uint64_t samples) const { return of.size(samples); }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    asked->fetch_add(out.size());
    of.indices(samples, epoch, first, out);
  }
  sampler of;
  std::shared_ptr<std::atomic<std::uint64_t>> asked =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace

TEST_CASE("resume: a position among a billion samples is found by arithmetic, in any epoch",
          "[loader][host]") {
  constexpr std::uint64_t billion = 1'000'000'000;
  constexpr std::uint64_t batch_size = 1000;
  const counted order{shuffle{.seed = 11}};
  std::mt19937_64 engine{3};
  loader loader{
      make_identity_dataset(billion, 8),
      order,
      make_host_device(),
      {.batch_size = batch_size, .readers = no_readers, .expert = {.batches_per_slot = 1}}};
  loader_state state = loader.state();
  CHECK(order.asked->load() == 128);
  for (int round = 0; round < 50; ++round) {
    state.epoch = engine() >> 1;
    state.batch = engine() % loader.plan().batches_per_epoch;
    const std::uint64_t before = order.asked->load();
    loader.seek(state);
    CHECK(order.asked->load() == before);
    auto range = loader.epoch(state.epoch);
    const auto found = range.next().value();
    CHECK(order.asked->load() == before + batch_size);  // and nothing is replayed
    REQUIRE(found.epoch() == state.epoch);
    REQUIRE(found.index() == state.batch);
    std::vector<sample_index> expected(batch_size);
    order.of.indices(billion, state.epoch, position{state.batch * batch_size}, expected);
    const auto ids = found["id"].values<std::uint64_t>();
    CHECK(std::equal(ids.begin(), ids.end(), expected.begin(), expected.end(),
                     [](std::uint64_t id, sample_index sample) { return id == sample.value; }));
  }
}
