/// Shards through the whole pipeline: the ranks' batches together are those of one process, on
/// every path to the consumer.

#include <feedline/error.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/no_more_threads.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 409;  // a prime: nothing divides it
constexpr std::uint64_t global_batch = 192;
constexpr std::uint64_t batches_per_epoch = 3;
constexpr std::uint64_t epochs = 2;

std::vector<std::uint64_t> some_lengths() {
  std::vector<std::uint64_t> lengths(sample_count);
  for (std::uint64_t i = 0; i < sample_count; ++i) lengths[i] = 1 + i * i % 97;
  return lengths;
}

/// Identity data whose sample is the position that it is read for.
class positions final : public dataset {
 public:
  std::uint64_t size() const override { return sample_count; }
  std::vector<field> fields() const override {
    return {{"id", element_type::u64, {}},
            {"row", element_type::u8, {11}},
            {"note", element_type::u8, {}}};
  }
  bool varies_by_epoch() const override { return true; }
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::uint64_t at = request.context[i].position.value().value;
      std::memcpy(request.out[0].data() + i * sizeof at, &at, sizeof at);
      write_identity_row(at, request.out[1].subspan(i * 11, 11));
      request.out[2][i] = std::byte{0};
    }
  }
};

/// A user's own sampler: from the last sample to the first.
struct backwards {
  std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t, position first,
               std::span<sample_index> out) const {
    for (sample_index& each : out) each = {samples - 1 - first.value++};
  }
};

/// The ranks' batches joined: by (epoch, index), with no repeats.
using joined = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>>;

joined all_ranks(data_path through, const dataset_ptr& data, const sampler& order, int world,
                 int readers) {
  joined whole;
  for (int rank = 0; rank < world; ++rank) {
    const shard own{.rank = rank, .world = world};
    const path_setup by{through};
    loader loader =
        by.load(data, order,
                {.batch_size = own.batch_share(global_batch), .shard = own, .readers = readers});
    const loader_plan& plan = loader.plan();
    CHECK(plan.batches_per_epoch == batches_per_epoch);
    for (const seen_batch& batch : consume_epochs(loader, by, epochs)) {
      CHECK(batch.intact);
      const bool last = batch.index + 1 == plan.batches_per_epoch;
      const std::uint64_t repeats = last ? plan.repeats_per_epoch : 0;
      auto& global = whole[{batch.epoch, batch.index}];
      global.insert(global.end(), batch.samples.begin(),
                    batch.samples.end() - static_cast<std::ptrdiff_t>(repeats));
    }
  }
  return whole;
}

}  // namespace

TEST_CASE("shard: on every path, the ranks' batches together are those of one process",
          "[loader][host]") {
  const log_capture unheard;
  const auto through = GENERATE(from_range(all_data_paths()));
  const std::vector<std::pair<std::string, sampler>> samplers{
      {"sequential", sequential{}},
      {"shuffle", shuffle{.seed = 3}},
      {"by length", bucket_by_length{some_lengths(), {.seed = 3, .buckets = 4}}},
      {"a user's own", backwards{}}};
  const auto data = make_identity_rows(sample_count, 11);
  static combinations cases;
  for (const auto& [name, order] : samplers) {
    const auto expected = all_ranks(through, data, order, 1, no_readers);
    REQUIRE(expected.size() == batches_per_epoch * epochs);
    for (const int world : {2, 3, 4, 8, 64}) {
      if (!cases.takes_next()) continue;
      INFO(to_string(through) << ", " << name << ", world " << world);
      CHECK(all_ranks(through, data, order, world, world == 4 ? 2 : no_readers) == expected);
    }
  }
}

TEST_CASE("shard: on every path but gather, windows and lanes of chunks are those of one process",
          "[loader][host]") {
  const log_capture unheard;
  const auto through = GENERATE(from_range(first_reading_data_paths()));
  const auto data =
      make_chunked(make_identity_rows(sample_count, 11), {.samples = 8, .bytes = 160, .kept = 100});
  static combinations cases;
  for (const std::uint64_t lanes : {1U, 64U}) {
    const sampler order = shuffle{.seed = 3, .within = chunks(20), .lanes = lanes};
    const auto expected = all_ranks(through, data, order, 1, no_readers);
    for (const int world : {2, 3, 4, 8, 64}) {
      if (!cases.takes_next()) continue;
      INFO(to_string(through) << ", " << lanes << " lanes, world " << world);
      CHECK(all_ranks(through, data, order, world, world == 4 ? 2 : no_readers) == expected);
    }
  }
}

TEST_CASE("shard: a sample is read for its position in the order that all ranks share",
          "[loader][host]") {
  const auto through = GENERATE(data_path::in_place, data_path::stream, data_path::transformed);
  const auto data = std::make_shared<const positions>();
  const auto found = all_ranks(through, data, shuffle{.seed = 3}, 4, 2);
  std::uint64_t next = 0;
  for (const auto& [which, batch] : found) {
    if (which.second == 0) next = 0;
    for (const std::uint64_t at : batch) REQUIRE(at == next++);
  }
  CHECK(next == sample_count);
}

TEST_CASE("batch: says how many of its samples are repeats, and which they are", "[batch][host]") {
  // 21 samples, global batches of 16: 5 are left for 4 ranks.
  const auto [rank, repeats] =
      GENERATE(table<int, std::uint64_t>({{0, 0}, {1, 0}, {2, 1}, {3, 2}}));
  loader loader{make_identity_dataset(21, 5),
                shuffle{.seed = 9},
                make_host_device(),
                {.batch_size = 4, .shard = {.rank = rank, .world = 4}}};
  CHECK(loader.plan().samples_per_epoch == 6);
  CHECK(loader.plan().repeats_per_epoch == repeats);
  CHECK(to_string(loader.plan()).substr(0, 11) == "rank " + std::to_string(rank) + " of 4");
  std::uint64_t batches = 0;
  for (batch& batch : loader.epoch(1)) {
    CHECK(batch.repeats() == (batch.index() == 1 ? repeats : 0));
    CHECK(batch.size() == (batch.index() == 1 ? 2 : 4));
    const auto samples = batch.samples();
    for (std::uint64_t i = 0; i < batch.size(); ++i)
      CHECK(samples[i].value == batch["id"].data<std::uint64_t>()[i]);
    ++batches;
  }
  CHECK(batches == 2);
}

TEST_CASE("batch: one process's last batch is filled with repeats where it is asked for",
          "[batch][host]") {
  loader loader{make_identity_dataset(10, 5),
                sequential{},
                make_host_device(),
                {.batch_size = 4, .partial_batch = partial_batch::fill}};
  std::vector<std::uint64_t> repeats;
  std::vector<std::uint64_t> ids;
  for (batch& batch : loader.epoch(0)) {
    repeats.push_back(batch.repeats());
    for (const sample_index sample : batch.samples()) ids.push_back(sample.value);
  }
  CHECK(repeats == std::vector<std::uint64_t>{0, 0, 2});
  CHECK(ids == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1});
}

TEST_CASE("loader: refuses a shard that cannot be before it starts a thread", "[loader][host]") {
  const auto refusal = [](const shard& wanted, std::uint64_t batch_size, partial_batch ends) {
    const no_more_threads limit;
    return message_of<usage_error>([&] {
      const loader never{make_identity_dataset(10, 5),
                         sequential{},
                         make_host_device(),
                         {.batch_size = batch_size, .partial_batch = ends, .shard = wanted}};
    });
  };
  CHECK(refusal({.rank = 4, .world = 4}, 2, partial_batch::keep) ==
        "loader_options::shard has rank 4 in a world of 4: the ranks are 0 to 3");
  CHECK(refusal({.rank = -1, .world = 4}, 2, partial_batch::keep) ==
        "loader_options::shard has rank -1 in a world of 4: the ranks are 0 to 3");
  CHECK(refusal({.rank = 0, .world = 0}, 2, partial_batch::keep) ==
        "loader_options::shard has a world of 0: say how many processes there are, 1 or more");
  CHECK(refusal({.rank = 0, .world = 4}, std::uint64_t{1} << 62, partial_batch::keep) ==
        "loader_options::batch_size is 4611686018427387904 in a world of 4: a global batch must be "
        "less than 2^64 samples; lower batch_size");
  CHECK(refusal({.rank = 0, .world = 4}, 3, partial_batch::drop) ==
        "the global batch of 12 samples (batch_size 3, world 4) is larger than the epoch's 10 "
        "samples, and partial_batch::drop would leave nothing: lower batch_size, or keep the last "
        "batch");
  CHECK(refusal({.rank = 0, .world = 4}, 1, partial_batch::error) ==
        "the global batch of 4 samples (batch_size 1, world 4) leaves a last batch of 2 of the "
        "epoch's 10 samples, and partial_batch::error forbids one: choose a divisor, or keep, fill "
        "or drop it");
}
