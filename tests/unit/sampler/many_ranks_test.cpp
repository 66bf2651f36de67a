#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "detail/arithmetic.hpp"
#include "loader/plan/share.hpp"
#include "sampler/rank_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::detail::epoch_share;
using feedline::detail::share_of;
using feedline::detail::shared_order;

// 4096 ranks, one after the other: what docs/guide/several-processes.md says.

namespace {

constexpr int world = 4096;
constexpr std::uint64_t epoch = 3;

/// Share of one rank's loader, computed from its options.
struct rank_share {
  rank_share(const dataset& data, const sampler& given, std::uint64_t batch_size, int rank)
      : share{share_of(given, data,
                       {.batch_size = batch_size, .shard = {.rank = rank, .world = world}})},
        order{shared_order{given, share}.own} {}

  std::uint64_t batches() const { return detail::divide_up(share.places(), share.batch_size); }
  std::vector<sample_index> batch(std::uint64_t samples, std::uint64_t number) const {
    const std::uint64_t first = number * share.batch_size;
    std::vector<sample_index> drawn(std::min(share.batch_size, share.places() - first));
    order.indices(samples, epoch, position{first}, drawn);
    return drawn;
  }

  epoch_share share;
  sampler order;
};

dataset_ptr chunked(std::uint64_t samples, std::uint64_t chunk) {
  return test::make_chunked(test::make_identity_dataset(samples, 8),
                            {.samples = chunk, .bytes = chunk * 8, .kept = samples});
}

}  // namespace

TEST_CASE("many ranks: global batches of 4096 ranks are those of one, in a billion samples",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 1'000'000'007;
  constexpr std::uint64_t batch = 16;
  constexpr std::uint64_t global_batch = batch * world;
  constexpr std::uint64_t whole_batches = samples / global_batch;
  const auto data = chunked(samples, 1000);
  const test::log_capture unheard;
  const std::vector<std::pair<std::string, sampler>> orders{
      {"shuffle", shuffle{.seed = 42}},
      {"lanes", shuffle{.seed = 42, .within = chunks(8192), .lanes = world}}};
  for (const auto& [name, given] : orders) {
    CAPTURE(name);
    const sampler bound = given.bind(*data, global_batch);
    std::vector<std::vector<sample_index>> found(4);
    const std::vector<std::uint64_t> numbers{0, whole_batches / 3, whole_batches - 1,
                                             whole_batches};
    for (int rank = 0; rank < world; ++rank) {
      const rank_share own{*data, bound, batch, rank};
      REQUIRE(own.batches() == whole_batches + 1);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        for (const sample_index each : own.batch(samples, numbers[i])) found[i].push_back(each);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint64_t first = numbers[i] * global_batch;
      std::vector<sample_index> expected(std::min(global_batch, samples - first));
      bound.indices(samples, epoch, position{first}, expected);
      REQUIRE(found[i].size() - expected.size() < world);  // the last: less than one repeat a rank
      REQUIRE(std::equal(expected.begin(), expected.end(), found[i].begin()));
    }
  }
}

TEST_CASE("many ranks: an epoch of 4096 ranks has every sample, and less than one repeat a rank",
          "[sampler][host]") {
  constexpr std::uint64_t batch = 4;
  constexpr std::uint64_t samples = 2 * batch * world + 5000;
  const auto data = test::make_identity_dataset(samples, 1);
  std::vector<int> times(samples, 0);
  std::uint64_t repeats = 0;
  for (int rank = 0; rank < world; ++rank) {
    const rank_share own{*data, shuffle{.seed = 1}, batch, rank};
    REQUIRE(own.batches() == 3);
    REQUIRE(own.batch(samples, 2).size() == 2);  // 5000 over 4096 ranks
    for (std::uint64_t number = 0; number < 3; ++number)
      for (const sample_index each : own.batch(samples, number)) ++times[each.value];
    repeats += own.share.places() - own.share.first_repeat();
  }
  CHECK(std::ranges::count(times, 0) == 0);
  CHECK(repeats == 2 * world - 5000);
  CHECK(static_cast<std::uint64_t>(std::ranges::count(times, 2)) == repeats);
}

TEST_CASE("many ranks: a rank reads whole chunks with lanes, and a chunk a sample without them",
          "[sampler][host]") {
  constexpr std::uint64_t chunk = 16;
  constexpr std::uint64_t samples = 4 * chunk * world;
  const auto data = chunked(samples, chunk);
  const test::log_capture unheard;
  const auto chunks_of_ranks = [&](const shuffle& given) {
    const sampler bound = sampler{given}.bind(*data, 4 * world);
    std::uint64_t most = 0;
    std::uint64_t all = 0;
    for (int rank = 0; rank < world; ++rank) {
      const rank_share own{*data, bound, 4, rank};
      std::set<std::uint64_t> read;
      for (std::uint64_t number = 0; number < own.batches(); ++number)
        for (const sample_index each : own.batch(samples, number)) read.insert(each.value / chunk);
      most = std::max<std::uint64_t>(most, read.size());
      all += read.size();
    }
    return std::pair{most, all};
  };
  const auto in_lanes = chunks_of_ranks({.seed = 1, .within = chunks(2 * world), .lanes = world});
  CHECK(in_lanes == std::pair{std::uint64_t{4}, samples / chunk});  // each chunk by one rank
  const auto without = chunks_of_ranks({.seed = 1});
  CHECK(without.second > 60 * std::uint64_t{world});  // a rank has 64 samples
}

TEST_CASE("many ranks: each of 4096 ranks finds its position in a billion samples by itself",
          "[loader][host]") {
  constexpr std::uint64_t samples = 1'000'000'007;
  constexpr std::uint64_t batch = 8;
  const auto data = test::make_identity_dataset(samples, 8);
  const shuffle order{.seed = 42};
  const auto loader_of = [&](int rank) {
    return loader{data,
                  order,
                  make_host_device(),
                  {.batch_size = batch,
                   .shard = {.rank = rank, .world = world},
                   .readers = no_readers,
                   .expert = {.batches_per_slot = 1}}};
  };
  loader_state state = loader_of(0).state();
  state.epoch = 7;
  state.batch = 20'000;
  for (const int rank : {0, 1, 2047, 4095}) {
    loader own = loader_of(rank);
    own.seek(state);
    auto range = own.epoch(state.epoch);
    const auto found = range.next().value();
    std::vector<sample_index> expected(batch);
    const std::uint64_t first = (state.batch * world + static_cast<std::uint64_t>(rank)) * batch;
    order.indices(samples, state.epoch, position{first}, expected);
    const auto ids = found["id"].values<std::uint64_t>();
    CHECK(std::equal(ids.begin(), ids.end(), expected.begin(), expected.end(),
                     [](std::uint64_t id, sample_index sample) { return id == sample.value; }));
  }
}
