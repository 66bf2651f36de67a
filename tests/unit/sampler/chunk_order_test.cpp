#include "sampler/chunk_order.hpp"

#include <feedline/sampler/shuffle.hpp>

#include "detail/arithmetic.hpp"
#include "support/checks/catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

using namespace feedline;
using feedline::detail::chunk_order;
using feedline::detail::divide_up;

namespace {

template <class Order>
std::vector<sample_index> run_of(const Order& order, std::uint64_t samples, std::uint64_t epoch,
                                 std::uint64_t first, std::uint64_t count) {
  std::vector<sample_index> out(count, sample_index{UINT64_MAX});
  order.indices(samples, epoch, position{first}, out);
  return out;
}

template <class Order>
std::vector<sample_index> whole(const Order& order, std::uint64_t samples, std::uint64_t epoch) {
  return run_of(order, samples, epoch, 0, samples);
}

bool is_permutation_of_all(const std::vector<sample_index>& order) {
  std::vector<char> seen(order.size(), 0);
  return std::ranges::all_of(order, [&](sample_index index) {
    return index.value < seen.size() && seen[index.value]++ == 0;
  });
}

/// The samples of each chunk that an epoch's order holds from one position to another.
std::map<std::uint64_t, std::uint64_t> chunks_between(const std::vector<sample_index>& order,
                                                      std::uint64_t first, std::uint64_t last,
                                                      std::uint64_t chunk_samples) {
  std::map<std::uint64_t, std::uint64_t> chunks;
  for (std::uint64_t at = first; at < last; ++at) ++chunks[order[at].value / chunk_samples];
  return chunks;
}

}  // namespace

TEST_CASE(
    "chunk order: every sample stands exactly once in an epoch, whatever the chunks and windows",
    "[sampler][host]") {
  for (std::uint64_t samples = 0; samples <= 120; ++samples)
    for (const std::uint64_t chunk : {1U, 2U, 3U, 7U, 16U, 119U, 120U, 200U})
      for (const std::uint64_t windows : {1U, 2U, 3U, 5U, 40U, 500U}) {
        INFO("samples " << samples << ", chunks of " << chunk << ", windows " << windows);
        REQUIRE(is_permutation_of_all(whole(chunk_order{samples, chunk, windows}, samples, 2)));
      }
}

TEST_CASE("chunk order: every sample of a large, ragged dataset stands exactly once",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(60'000U, 65'537U, 204'801U);
  const std::uint64_t chunk = GENERATE(16U, 256U, 999U);
  const std::uint64_t windows = GENERATE(2U, 7U, 31U);
  CHECK(is_permutation_of_all(whole(chunk_order{5, chunk, windows}, samples, 1)));
}

TEST_CASE(
    "chunk order: a window is whole chunks, equal in number to within one, and none comes again",
    "[sampler][host]") {
  const std::uint64_t chunk = 10;
  const std::uint64_t chunks = GENERATE(12U, 13U, 100U, 101U);
  const std::uint64_t windows = GENERATE(2U, 3U, 5U, 12U);
  const std::uint64_t last = GENERATE(10U, 9U, 1U);  // samples of the last chunk
  const std::uint64_t samples = (chunks - 1) * chunk + last;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const auto order = whole(chunk_order{3, chunk, windows}, samples, epoch);
    std::uint64_t at = 0;
    for (std::uint64_t window = 0; window < windows; ++window) {
      const std::uint64_t count = chunks / windows + (window < chunks % windows ? 1 : 0);
      // Without the last chunk, and with it where the window's samples are fewer for it.
      std::uint64_t end = std::min(samples, at + count * chunk);
      auto found = chunks_between(order, at, end, chunk);
      if (last != chunk && found.contains(chunks - 1)) {
        end = at + (count - 1) * chunk + last;
        found = chunks_between(order, at, end, chunk);
      }
      REQUIRE(found.size() == count);
      for (const auto& [which, held] : found) REQUIRE(held == (which == chunks - 1 ? last : chunk));
      at = end;
    }
    REQUIRE(at == samples);
  }
}

TEST_CASE("chunk order: over the epochs the short last chunk lies in every window",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 95;
  std::set<std::uint64_t> places;
  for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
    const auto order = whole(chunk_order{9, 10, 5}, samples, epoch);
    const auto at = std::ranges::find(order, sample_index{samples - 1}) - order.begin();
    places.insert(static_cast<std::uint64_t>(at) / 20);
  }
  CHECK(places.size() == 5);
}

TEST_CASE("chunk order: a position's sample is the same alone and in a run over several windows",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(1U, 17U, 1000U, 4999U);
  const chunk_order order{11, 16, 9};
  const auto all = whole(order, samples, 3);
  for (std::uint64_t first = 0; first < samples; first += 1 + samples / 97) {
    REQUIRE(run_of(order, samples, 3, first, 1).front() == all[first]);
    const auto count = std::min<std::uint64_t>(samples - first, 1 + first % 1700);
    const auto run = run_of(order, samples, 3, first, count);
    REQUIRE(std::equal(run.begin(), run.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
  }
}

TEST_CASE(
    "chunk order: one window, chunks of one sample and a single chunk give plain shuffle's order",
    "[sampler][host]") {
  const auto plain = whole(shuffle{.seed = 8}, 1000, 4);
  CHECK(whole(chunk_order{8, 16, 1}, 1000, 4) == plain);
  CHECK(whole(chunk_order{8, 1, 10}, 1000, 4) == plain);
  CHECK(whole(chunk_order{8, 1000, 10}, 1000, 4) == plain);
  CHECK(whole(chunk_order{8, 999, 10}, 1000, 4) != plain);
}

TEST_CASE("chunk order: sizes beyond 2^32 work, in range, without repetition, few chunks at a time",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE((1ULL << 32) + 1, (1ULL << 40) - 3, (1ULL << 63) + 5);
  const std::uint64_t chunk = GENERATE(16ULL, 1000ULL, (1ULL << 31) + 1);
  const std::uint64_t chunks = divide_up(samples, chunk);
  const std::uint64_t windows = std::max<std::uint64_t>(1, chunks / 5);
  for (const std::uint64_t first : {std::uint64_t{0}, samples / 3, samples - 3000}) {
    auto run = run_of(chunk_order{1, chunk, windows}, samples, 0, first, 3000);
    std::set<std::uint64_t> touched;
    for (const auto index : run) touched.insert(index.value / chunk);
    const std::uint64_t spanned = 2 + 3000 / (chunk * 4);  // windows that a run can lie in
    if (windows > 1) CHECK(touched.size() <= spanned * divide_up(chunks, windows));
    std::ranges::sort(run);
    CHECK(run.back().value < samples);
    CHECK(std::ranges::adjacent_find(run) == run.end());
  }
}

TEST_CASE(
    "chunk order: the same epoch has one order, and other epochs, seeds and windows have others",
    "[sampler][host]") {
  const auto first = whole(chunk_order{42, 10, 4}, 1000, 0);
  CHECK(whole(chunk_order{42, 10, 4}, 1000, 0) == first);
  CHECK(whole(chunk_order{42, 10, 5}, 1000, 0) != first);
  CHECK(whole(chunk_order{42, 11, 4}, 1000, 0) != first);
  const auto in_first_window = chunks_between(first, 0, 250, 10);
  std::size_t same_chunks = 0;
  for (std::uint64_t other = 1; other < 100; ++other) {
    const auto order = whole(chunk_order{42, 10, 4}, 1000, other);
    CHECK(order != first);
    CHECK(whole(chunk_order{42 + other, 10, 4}, 1000, 0) != first);
    same_chunks += chunks_between(order, 0, 250, 10) == in_first_window ? 1 : 0;
  }
  CHECK(same_chunks == 0);  // there are about 10^23 choices
}

// Stable across versions of feedline, platforms and compilers, as plain shuffle is. If this test
// fails, the current change breaks that promise; undo it rather than edit the numbers.
TEST_CASE(
    "chunk order: the order of given (seed, epoch, samples, chunk, windows) is the one it has "
    "always been",
    "[sampler][host]") {
  struct pinned {
    std::uint64_t seed, epoch, samples, chunk, windows, first;
    std::array<std::uint64_t, 8> expected;
  };
  const std::array<pinned, 7> known{{
      {0, 0, 30, 4, 3, 0, {18, 9, 11, 19, 8, 27, 17, 26}},
      {42, 0, 60'000, 16, 15, 0, {31663, 31062, 57324, 2247, 54042, 20741, 49505, 51843}},
      {42, 1, 60'000, 16, 15, 3'996, {55004, 26024, 30327, 18294, 20162, 8403, 33373, 40134}},
      {42, 0, 60'000, 256, 15, 59'992, {8605, 43974, 35653, 8617, 26553, 8851, 40889, 59691}},
      {7,
       3,
       1'000'003,
       1000,
       9,
       500'000,
       {625180, 73258, 638201, 228988, 263989, 663378, 141716, 638047}},
      {1,
       2,
       (1ULL << 40) + 1,
       256,
       1ULL << 20,
       123'456'789,
       {1001446539003, 657810579815, 7552303178, 210074682776, 941790422789, 89263819910,
        1063154622157, 172340158783}},
      {UINT64_MAX,
       UINT64_MAX,
       1ULL << 62,
       (1ULL << 32) + 5,
       1000,
       1ULL << 61,
       {4444951344934304798, 3152949037077251332, 1684907966516502365, 1693198309698861416,
        4123269313127132828, 3281050037825555671, 4229389416620420142, 4053791385802772486}},
  }};
  for (const auto& [seed, epoch, samples, chunk, windows, first, expected] : known) {
    INFO("seed " << seed << ", epoch " << epoch << ", samples " << samples << ", chunk " << chunk);
    const auto run =
        run_of(chunk_order{seed, chunk, windows}, samples, epoch, first, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(run[i].value == expected[i]);
  }
}
