#include "sampler/rank_order.hpp"

#include <feedline/dataset/subset.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/random_split.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "detail/arithmetic.hpp"
#include "loader/plan/share.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::detail::epoch_share;
using feedline::detail::share_of;
using feedline::detail::shared_order;

namespace {

constexpr std::uint64_t epoch = 3;

/// A user's own sampler: every third sample, backwards.
struct thirds {
  std::uint64_t size(std::uint64_t samples) const { return (samples + 2) / 3; }
  void indices(std::uint64_t samples, std::uint64_t, position first,
               std::span<sample_index> out) const {
    for (sample_index& each : out) each = {3 * (size(samples) - 1 - first.value++)};
  }
};

std::vector<std::uint64_t> lengths_of(std::uint64_t samples) {
  std::vector<std::uint64_t> lengths(samples);
  for (std::uint64_t i = 0; i < samples; ++i) lengths[i] = 1 + i * i % 97;
  return lengths;
}

/// Samplers for a loader of any rank, by name.
std::vector<std::pair<std::string, sampler>> samplers_over(std::uint64_t samples) {
  return {{"sequential", sequential{}},
          {"shuffle", shuffle{.seed = 42}},
          {"windows of chunks", shuffle{.seed = 42, .within = chunks(3)}},
          {"by length", bucket_by_length{lengths_of(samples), {.seed = 42, .buckets = 4}}},
          {"a user's own", thirds{}}};
}

dataset_ptr stored(std::uint64_t samples) {
  return test::make_chunked(test::make_identity_dataset(samples, 1),
                            {.samples = 7, .bytes = 7, .kept = 1000});
}

/// The batches of one rank, as a loader of these options makes them.
struct rank_batches {
  std::vector<std::vector<sample_index>> batches;
  std::uint64_t repeats = 0;
};

rank_batches batches_of(const dataset& data, const sampler& given, const loader_options& options) {
  const test::log_capture unheard;
  const auto world = static_cast<std::uint64_t>(options.shard.world);
  const sampler bound = given.bind(data, options.batch_size * world);
  const epoch_share share = share_of(bound, data, options);
  const sampler order = shared_order{bound, share}.own;
  rank_batches all;
  const std::uint64_t size = share.places();
  for (std::uint64_t first = 0; first < size; first += options.batch_size) {
    auto& batch = all.batches.emplace_back(std::min(options.batch_size, size - first));
    order.indices(data.size(), epoch, position{first}, batch);
  }
  all.repeats = share.places() - share.first_repeat();
  return all;
}

/// The global batches that the ranks' make, without repeats.
std::vector<std::vector<sample_index>> global_batches(const dataset& data, const sampler& given,
                                                      std::uint64_t global, int world,
                                                      partial_batch ends) {
  std::vector<std::vector<sample_index>> joined;
  std::uint64_t last_size = 0;
  for (int rank = 0; rank < world; ++rank) {
    const shard own{.rank = rank, .world = world};
    auto part = batches_of(
        data, given, {.batch_size = own.batch_share(global), .partial_batch = ends, .shard = own});
    if (rank == 0) joined.resize(part.batches.size());
    REQUIRE(part.batches.size() == joined.size());  // the same number on every rank
    if (joined.empty()) continue;
    auto& last = part.batches.back();
    if (rank == 0) last_size = last.size();
    REQUIRE(last.size() == last_size);  // and of the same size
    REQUIRE(part.repeats <= last.size());
    last.resize(last.size() - part.repeats);
    for (std::size_t g = 0; g < joined.size(); ++g)
      joined[g].insert(joined[g].end(), part.batches[g].begin(), part.batches[g].end());
  }
  return joined;
}

}  // namespace

TEST_CASE("shard: the number of a rank's positions before a position of the epoch",
          "[sampler][host]") {
  const std::uint64_t world = GENERATE(1U, 2U, 5U);
  const std::uint64_t batch_size = GENERATE(1U, 4U);
  const std::uint64_t last = GENERATE(0U, 1U, 3U);
  for (std::uint64_t positions : {1U, 7U, 40U, 43U}) {
    for (std::uint64_t rank = 0; rank < world; ++rank) {
      const epoch_share share{.positions = positions,
                              .batch_size = batch_size,
                              .rank = rank,
                              .world = world,
                              .last = std::min(last, batch_size)};
      CAPTURE(positions, batch_size, rank, world, last);
      for (std::uint64_t before = 0; before <= positions; ++before) {
        std::uint64_t expected = 0;
        for (std::uint64_t place = 0; place < share.places(); ++place)
          expected += share.at(place).value < before ? 1 : 0;
        CHECK(share.places_before(before) == expected);
      }
    }
  }
}

TEST_CASE(
    "shard: the ranks' batches, joined in their order, are the batches of one process, for every "
    "world that divides the global batch",
    "[sampler][host]") {
  const std::uint64_t samples = GENERATE(1U, 2U, 63U, 64U, 65U, 192U, 193U, 1009U, 1024U);
  const auto data = stored(samples);
  for (const auto& [name, given] : samplers_over(samples))
    for (const partial_batch ends : {partial_batch::keep, partial_batch::fill})
      for (const std::uint64_t global : {64U, 192U}) {
        const auto expected = global_batches(*data, given, global, 1, ends);
        for (const int world : {1, 2, 3, 4, 8, 64}) {
          if (global % static_cast<std::uint64_t>(world) != 0) continue;
          INFO(name << ", " << samples << " samples, global batch " << global << ", world "
                    << world);
          REQUIRE(global_batches(*data, given, global, world, ends) == expected);
        }
      }
}

TEST_CASE("shard: lanes of chunks give every world the same global batches", "[sampler][host]") {
  const std::uint64_t samples = GENERATE(1U, 65U, 193U, 1009U);
  const auto data = stored(samples);
  const shuffle order{.seed = 42, .within = chunks(24), .lanes = GENERATE(1U, 4U, 12U, 192U)};
  const auto expected = global_batches(*data, order, 192, 1, partial_batch::keep);
  for (const int world : {2, 3, 4, 8, 64}) {
    INFO(samples << " samples, " << order.lanes << " lanes, world " << world);
    REQUIRE(global_batches(*data, order, 192, world, partial_batch::keep) == expected);
  }
}

TEST_CASE("shard: worlds of any size and odd batches leave no sample out and give none twice",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(1U, 5U, 100U, 101U, 360U);
  const auto data = stored(samples);
  for (const auto& [name, given] : samplers_over(samples))
    for (const partial_batch ends : {partial_batch::keep, partial_batch::fill})
      for (const std::uint64_t batch : {1U, 3U, 7U})
        for (const int world : {1, 2, 3, 4, 5, 8, 64}) {
          INFO(name << ", " << samples << " samples, batches of " << batch << ", world " << world);
          const auto global = batch * static_cast<std::uint64_t>(world);
          std::vector<sample_index> seen;
          for (const auto& each : global_batches(*data, given, global, world, ends))
            seen.insert(seen.end(), each.begin(), each.end());
          const test::log_capture unheard;
          const sampler bound = given.bind(*data, global);
          std::vector<sample_index> order(bound.size(samples));
          bound.indices(samples, epoch, position{0}, order);
          REQUIRE(seen == order);
        }
}

TEST_CASE("shard: dropped ends leave whole global batches on every rank, in the same order",
          "[sampler][host]") {
  const auto data = stored(1009);
  for (const auto& [name, given] : samplers_over(1009))
    for (const int world : {1, 2, 4, 8, 64}) {
      INFO(name << ", world " << world);
      auto expected = global_batches(*data, given, 64, 1, partial_batch::keep);
      expected.pop_back();
      REQUIRE(global_batches(*data, given, 64, world, partial_batch::drop) == expected);
    }
}

TEST_CASE("shard: composes with subsets and random splits", "[sampler][host]") {
  const auto all = stored(1009);
  const auto data = GENERATE_COPY(from_range(std::vector<dataset_ptr>{
      subset(all, sample_index{100}, 500), random_split(all, {0.7, 0.3}, 5)[1]}));
  const auto expected = global_batches(*data, shuffle{.seed = 1}, 24, 1, partial_batch::keep);
  for (const int world : {2, 3, 4, 8})
    CHECK(global_batches(*data, shuffle{.seed = 1}, 24, world, partial_batch::keep) == expected);
}

TEST_CASE("shard: repeats are the epoch's first samples, and less than a world's of a kept batch",
          "[sampler][host]") {
  struct example {
    partial_batch ends;
    int rank;
    std::vector<std::uint64_t> last;
    std::uint64_t repeats;
  };
  // 21 samples in order, global batches of 16: 5 are left for 4 ranks, so 2 for each.
  const auto [ends, rank, last, repeats] = GENERATE(values<example>({
      {partial_batch::keep, 0, {16, 17}, 0},
      {partial_batch::keep, 1, {18, 19}, 0},
      {partial_batch::keep, 2, {20, 0}, 1},
      {partial_batch::keep, 3, {1, 2}, 2},
      {partial_batch::fill, 0, {16, 17, 18, 19}, 0},
      {partial_batch::fill, 1, {20, 0, 1, 2}, 3},
      {partial_batch::fill, 3, {7, 8, 9, 10}, 4},
  }));
  INFO("rank " << rank);
  const auto found =
      batches_of(*stored(21), sequential{},
                 {.batch_size = 4, .partial_batch = ends, .shard = {.rank = rank, .world = 4}});
  REQUIRE(found.batches.size() == 2);
  std::vector<sample_index> expected;
  for (const std::uint64_t sample : last) expected.push_back({sample});
  CHECK(found.batches[1] == expected);
  CHECK(found.repeats == repeats);
}

TEST_CASE("shard: a world larger than the dataset repeats it until every rank has its batch",
          "[sampler][host]") {
  const loader_options options{
      .batch_size = 4, .partial_batch = partial_batch::fill, .shard = {.rank = 5, .world = 64}};
  const auto found = batches_of(*stored(3), sequential{}, options);
  REQUIRE(found.batches.size() == 1);
  CHECK(found.batches[0] == std::vector<sample_index>{{2}, {0}, {1}, {2}});
  CHECK(found.repeats == 4);
}

TEST_CASE("shard: a run of positions across batches and repeats gives the same as each alone",
          "[sampler][host]") {
  const auto data = stored(101);
  const loader_options options{
      .batch_size = 3, .partial_batch = partial_batch::fill, .shard = {.rank = 6, .world = 7}};
  const epoch_share share = share_of(shuffle{}, *data, options);
  const sampler order = shared_order{shuffle{}, share}.own;
  std::vector<sample_index> all(share.places());
  order.indices(101, epoch, position{0}, all);
  for (std::uint64_t first = 0; first < all.size(); ++first)
    for (std::uint64_t count = 0; count <= all.size() - first; ++count) {
      std::vector<sample_index> run(count);
      order.indices(101, epoch, position{first}, run);
      REQUIRE(std::equal(run.begin(), run.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
    }
}

TEST_CASE("shard: a billion samples over 4096 ranks are found by arithmetic", "[sampler][host]") {
  constexpr std::uint64_t samples = 1'000'000'007;
  constexpr std::uint64_t batch = 32;
  constexpr int world = 4096;
  const shuffle order{.seed = 42};
  for (const int rank : {0, 1, 2047, 4095}) {
    const epoch_share share{
        .positions = samples,
        .batch_size = batch,
        .rank = static_cast<std::uint64_t>(rank),
        .world = world,
        .last = detail::divide_up(samples % (batch * world), std::uint64_t{world})};
    const sampler own = shared_order{order, share}.own;
    CHECK(share.whole_batches() == samples / (batch * world));
    for (std::uint64_t g = 0; g <= share.whole_batches(); g += 1 + share.whole_batches() / 1000) {
      const std::uint64_t first = g * batch;
      std::vector<sample_index> drawn(std::min(batch, share.places() - first));
      own.indices(samples, 5, position{first}, drawn);
      std::vector<sample_index> expected(drawn.size());
      const std::uint64_t at = g * batch * world + share.rank * drawn.size();
      order.indices(samples, 5, position{at}, expected);
      REQUIRE(drawn == expected);
    }
  }
}
