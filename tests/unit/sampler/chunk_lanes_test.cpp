#include "detail/arithmetic.hpp"
#include "sampler/chunk_order.hpp"
#include "sampler/epoch_share.hpp"
#include "sampler/rank_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

using namespace feedline;
using feedline::detail::chunk_lanes;
using feedline::detail::chunk_order;
using feedline::detail::epoch_share;
using feedline::detail::shared_order;

// The lanes of a chunk order, which ranks of a shard read by whole chunks.

namespace {

std::vector<sample_index> run_of(const chunk_order& order, std::uint64_t samples,
                                 std::uint64_t epoch, std::uint64_t first, std::uint64_t count) {
  std::vector<sample_index> out(count, sample_index{UINT64_MAX});
  order.indices(samples, epoch, position{first}, out);
  return out;
}

std::vector<sample_index> whole(const chunk_order& order, std::uint64_t samples,
                                std::uint64_t epoch) {
  return run_of(order, samples, epoch, 0, samples);
}

bool is_permutation_of_all(const std::vector<sample_index>& order) {
  std::vector<char> seen(order.size(), 0);
  return std::ranges::all_of(order, [&](sample_index index) {
    return index.value < seen.size() && seen[index.value]++ == 0;
  });
}

/// Chunks that each rank of a world reads in whole batches.
std::vector<std::set<std::uint64_t>> chunks_of_ranks(const chunk_order& order,
                                                     std::uint64_t samples, std::uint64_t chunk,
                                                     std::uint64_t global, std::uint64_t world) {
  std::vector<std::set<std::uint64_t>> chunks(world);
  for (std::uint64_t rank = 0; rank < world; ++rank) {
    const epoch_share share{
        .positions = samples, .batch_size = global / world, .rank = rank, .world = world};
    std::vector<sample_index> own(share.places());
    shared_order{order, share}.own.indices(samples, 1, position{0}, own);
    for (const sample_index each : own) chunks[rank].insert(each.value / chunk);
  }
  return chunks;
}

}  // namespace

TEST_CASE("chunk lanes: every sample stands exactly once in an epoch, whatever the lanes",
          "[sampler][host]") {
  for (std::uint64_t samples = 0; samples <= 100; samples += 1 + samples / 20)
    for (const std::uint64_t chunk : {1U, 2U, 3U, 7U, 16U, 99U, 200U})
      for (const std::uint64_t windows : {1U, 2U, 5U, 500U})
        for (const chunk_lanes lanes : {chunk_lanes{2, 2}, chunk_lanes{2, 8}, chunk_lanes{3, 9},
                                        chunk_lanes{8, 8}, chunk_lanes{40, 80}})
          for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            INFO("samples " << samples << ", chunks of " << chunk << ", windows " << windows
                            << ", lanes " << lanes.count << ", batches of " << lanes.batch_size);
            REQUIRE(is_permutation_of_all(
                whole(chunk_order{samples, chunk, windows, lanes}, samples, epoch)));
          }
}

TEST_CASE("chunk lanes: every sample of a large, ragged dataset stands exactly once",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(60'000U, 65'537U);
  const std::uint64_t chunk = GENERATE(16U, 256U, 999U);
  const std::uint64_t lanes = GENERATE(4U, 64U);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
    CHECK(is_permutation_of_all(whole(chunk_order{5, chunk, 7, {lanes, 256}}, samples, epoch)));
}

TEST_CASE("chunk lanes: a position's sample is the same alone and in a run", "[sampler][host]") {
  const std::uint64_t samples = GENERATE(17U, 1000U, 4999U);
  const chunk_order order{11, 16, 3, {4, 24}};
  const auto all = whole(order, samples, 3);
  for (std::uint64_t first = 0; first < samples; first += 1 + samples / 97) {
    REQUIRE(run_of(order, samples, 3, first, 1).front() == all[first]);
    const auto count = std::min<std::uint64_t>(samples - first, 1 + first % 1700);
    const auto run = run_of(order, samples, 3, first, count);
    REQUIRE(std::equal(run.begin(), run.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
  }
}

TEST_CASE("chunk lanes: sizes beyond 2^32 work, in range, without repetition", "[sampler][host]") {
  const std::uint64_t samples = GENERATE((1ULL << 32) + 1, (1ULL << 40) - 3, (1ULL << 63) + 5);
  const std::uint64_t chunk = GENERATE(16ULL, 1000ULL, (1ULL << 31) + 1);
  const std::uint64_t windows = std::max<std::uint64_t>(1, samples / chunk / 64);
  for (const std::uint64_t first : {std::uint64_t{0}, samples / 3, samples - 3000}) {
    auto run = run_of(chunk_order{1, chunk, windows, {64, 1024}}, samples, 0, first, 3000);
    std::ranges::sort(run);
    CHECK(run.back().value < samples);
    CHECK(std::ranges::adjacent_find(run) == run.end());
  }
}

TEST_CASE("chunk lanes: ranks read no chunk of each other's until the end of the epoch",
          "[sampler][host]") {
  constexpr std::uint64_t chunk = 16;
  constexpr std::uint64_t lanes = 64;
  constexpr std::uint64_t global = 256;
  const std::uint64_t last = GENERATE(16U, 5U);  // samples of the last chunk
  const std::uint64_t chunks = GENERATE(6'400U, 6'417U);
  const std::uint64_t samples = (chunks - 1) * chunk + last;
  // All lanes have as many chunks as the shortest, but that may be short.
  const std::uint64_t in_lanes =
      ((chunks / lanes * chunk - (chunk - last)) * lanes) / global * global;
  const chunk_order order{9, chunk, 10, {lanes, global}};
  const auto epoch = whole(order, samples, 1);
  for (const std::uint64_t world : {1U, 2U, 4U, 8U, 64U}) {
    std::vector<std::set<std::uint64_t>> read(world);
    for (std::uint64_t at = 0; at < in_lanes; ++at)
      read[at % global / (global / world)].insert(epoch[at].value / chunk);
    std::set<std::uint64_t> all;
    std::size_t sum = 0;
    for (const auto& own : read) {
      CHECK(own.size() <= detail::divide_up(chunks, lanes) * lanes / world);
      sum += own.size();
      all.insert(own.begin(), own.end());
    }
    CHECK(sum == all.size());
  }
}

// The figures of `docs/decisions/0051-deal-global-batches-to-ranks.md`.
TEST_CASE("chunk lanes: a rank reads its share of the chunks, and without lanes all of them",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 1'000'000;
  constexpr std::uint64_t chunk = 256;  // 3907 chunks
  constexpr std::uint64_t global = 1024;
  constexpr std::uint64_t windows = 4;  // windows of 977 chunks
  const auto mean = [&](std::uint64_t lanes, std::uint64_t world) {
    double sum = 0;
    for (const auto& own : chunks_of_ranks(chunk_order{3, chunk, windows, {lanes, global}}, samples,
                                           chunk, global, world))
      sum += static_cast<double>(own.size());
    return sum / static_cast<double>(world) / 3907;
  };
  CHECK(mean(1, 8) == 1);
  CHECK(mean(1, 64) > 0.98);
  CHECK(mean(64, 8) < 1.1 / 8);
  CHECK(mean(64, 64) < 1.4 / 64);
}

TEST_CASE("chunk lanes: a rank reads no more chunks at a time than its share of a window",
          "[sampler][host]") {
  constexpr std::uint64_t chunk = 16;
  constexpr std::uint64_t samples = 6'400 * chunk;
  constexpr std::uint64_t global = 256;
  const chunk_order order{9, chunk, 10, {64, global}};  // windows of 640 chunks, 10 of each lane
  for (const std::uint64_t world : {1U, 8U, 64U}) {
    const epoch_share share{
        .positions = samples, .batch_size = global / world, .rank = world - 1, .world = world};
    std::vector<sample_index> own(640 * chunk / world);
    for (std::uint64_t window = 0; window < 9; ++window) {
      shared_order{order, share}.own.indices(samples, 1, position{window * own.size()}, own);
      std::set<std::uint64_t> chunks;
      for (const sample_index each : own) chunks.insert(each.value / chunk);
      CHECK(chunks.size() == 640 / world);
    }
  }
}

TEST_CASE("chunk lanes: batches are mixed as well as in windows without lanes", "[sampler][host]") {
  constexpr std::uint64_t classes = 10;
  constexpr std::uint64_t samples = 204'800;
  constexpr std::uint64_t batch = 256;
  constexpr double expected = double{batch} / double{classes};
  const std::uint64_t chunk = GENERATE(16U, 256U);
  const double window = 256;
  const std::uint64_t windows = samples / chunk / 256;
  const chunk_order order{31, chunk, std::max<std::uint64_t>(1, windows), {64, batch}};
  double chi_square = 0;
  std::uint64_t batches = 0;
  std::vector<sample_index> drawn(batch);
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch)
    for (std::uint64_t g = 0; g < samples / batch; g += 29, ++batches) {
      order.indices(samples, epoch, position{g * batch}, drawn);
      std::array<double, classes> counts{};
      for (const auto index : drawn) ++counts[index.value * classes / samples];
      for (const double count : counts)
        chi_square += (count - expected) * (count - expected) / expected;
    }
  const double excess = chi_square / static_cast<double>(batches * (classes - 1));
  CHECK(excess < 1.25 * (1 + (batch - 1) / window));
}

TEST_CASE("chunk lanes: over the epochs a sample stands at every position alike",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 104;  // 13 chunks in lanes of 5, 4 and 4
  const chunk_order order{12, 8, 2, {3, 15}};
  std::array<std::vector<std::uint64_t>, 3> counts;
  counts.fill(std::vector<std::uint64_t>(samples, 0));
  for (std::uint64_t epoch = 0; epoch < samples * 30; ++epoch) {
    const auto drawn = whole(order, samples, epoch);
    for (std::size_t place = 0; place < samples; ++place)
      for (std::size_t i = 0; i < counts.size(); ++i)
        if (drawn[place].value == i * (samples - 1) / 2) ++counts[i][place];
  }
  for (const auto& of_one : counts) CHECK(std::abs(test::deviation(of_one)) < 3.5);
}

// Stable across versions of feedline, platforms and compilers, as all orders are. If this test
// fails, the current change breaks that promise; undo it rather than edit the numbers.
TEST_CASE("chunk lanes: the order of given lanes and batches is the one it has always been",
          "[sampler][host]") {
  struct pinned {
    std::uint64_t seed, epoch, samples, chunk, windows;
    chunk_lanes lanes;
    std::uint64_t first;
    std::array<std::uint64_t, 8> expected;
  };
  const std::array<pinned, 6> known{{
      {0, 0, 30, 4, 3, {2, 4}, 0, {11, 25, 15, 0, 8, 9, 14, 3}},
      {42,
       0,
       60'000,
       16,
       15,
       {8, 64},
       1'000,
       {46647, 11027, 24808, 49264, 27338, 44025, 48922, 27398}},
      {42,
       1,
       60'001,
       16,
       15,
       {8, 64},
       59'993,
       {47388, 43995, 42992, 35996, 1358, 40266, 29668, 33659}},
      {7,
       3,
       1'000'003,
       1000,
       9,
       {64, 256},
       500'000,
       {602618, 522392, 522367, 602678, 391288, 391653, 489959, 391811}},
      {7,
       3,
       1'000'003,
       1000,
       9,
       {64, 256},
       999'900,
       {138124, 138837, 138413, 138937, 436624, 436523, 436262, 436119}},
      {1,
       2,
       (1ULL << 40) + 1,
       256,
       1ULL << 20,
       {64, 4096},
       123'456'789,
       {65026892214, 184254934160, 954286042044, 987709406608, 987709406471, 838483684224,
        341720387979, 717040160086}},
  }};
  for (const auto& [seed, epoch, samples, chunk, windows, lanes, first, expected] : known) {
    INFO("seed " << seed << ", epoch " << epoch << ", samples " << samples << ", chunk " << chunk);
    const auto run =
        run_of(chunk_order{seed, chunk, windows, lanes}, samples, epoch, first, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(run[i].value == expected[i]);
  }
}
