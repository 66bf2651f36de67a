/// Regions of windows' positions: which samples share one, and what the orders read for them.

#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/dataset/read_request.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_chunks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using numbers = std::vector<std::uint64_t>;

/// An array of numbers in chunks, of which some are kept.
array_ptr array_of(const numbers& shape, const numbers& chunk, std::uint64_t kept,
                   const std::shared_ptr<numbered_chunks::record>& record) {
  std::size_t bytes = 4;
  for (const std::uint64_t extent : chunk) bytes *= extent;
  return detail::make_chunked_array(
      {.name = "x", .type = element_type::u32, .shape = shape, .chunk = chunk},
      std::make_unique<const numbered_chunks>(shape, chunk, record), std::vector<std::byte>(4),
      kept * (bytes + 64));
}

window random_along(int axis, std::uint64_t size, std::uint64_t region) {
  return {.axis = axis, .size = size, .position = window_position::random, .region = region};
}

/// The first element of each sample of an epoch.
std::vector<std::uint32_t> first_elements(const dataset& set, std::uint64_t epoch) {
  std::vector<sample_index> samples(set.size());
  for (std::uint64_t i = 0; i < samples.size(); ++i) samples[i] = {i};
  const std::size_t bytes = sample_bytes(set.fields()[0]);
  std::vector<std::byte> out(samples.size() * bytes);
  const std::vector<std::span<std::byte>> outs{out};
  set.read(
      {.samples = samples, .out = outs, .context = read_context{5, epoch, samples, position{0}}});
  std::vector<std::uint32_t> first(samples.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    std::memcpy(&first[i], out.data() + i * bytes, sizeof first[i]);
  return first;
}

}  // namespace

TEST_CASE("regions: consecutive samples share one, and each position is as likely",
          "[arrays][host]") {
  // 13 positions in 3 regions along y, which share the positions between them; 6 in 2 along x.
  const auto record = std::make_shared<numbered_chunks::record>();
  const array_ptr array = array_of({3, 16, 8}, {1, 4, 4}, 24, record);
  const auto set = make_windows({{0}, random_along(1, 4, 5), random_along(2, 3, 3)},
                                {{"x", {array}}}, {.draws = 6 * 50});
  CHECK(set->chunks().samples == 50);
  std::vector<std::uint64_t> seen(13 * 6);
  constexpr std::uint64_t epochs = 40;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto first = first_elements(*set, epoch);
    REQUIRE(first.size() == 3 * 6 * 50);
    for (std::uint64_t i = 0; i < first.size(); ++i) {
      const std::uint64_t y = first[i] / 8 % 16;
      const std::uint64_t x = first[i] % 8;
      const std::uint64_t region = i / 50 % 6;
      REQUIRE(first[i] / 128 == i / 300);
      REQUIRE(y >= region / 2 * 13 / 3);
      REQUIRE(y <= ((region / 2 + 1) * 13 - 1) / 3);
      REQUIRE(x / 3 == region % 2);
      ++seen[y * 6 + x];
    }
  }
  CHECK(deviation(seen) < 4);
  CHECK(first_elements(*set, 0) != first_elements(*set, 1));
}

TEST_CASE("regions: chunks tell samples, memory, and how many regions are kept", "[arrays][host]") {
  const auto record = std::make_shared<numbered_chunks::record>();
  const array_ptr array = array_of({64, 64}, {8, 8}, 50, record);
  // 57 positions in 4 regions of 15 or so along each axis: 15 + 1 + 7 elements touch 4 chunks.
  const std::vector<window> windows{random_along(0, 8, 16), random_along(1, 8, 16)};
  const chunking random = make_windows(windows, {{"x", {array}}}, {.draws = 16 * 3})->chunks();
  CHECK(random.samples == 3);
  CHECK(random.bytes == 4 * 4 * 8 * 8 * 4);
  CHECK(random.kept == array->spec().chunks_kept / 16);

  // Chunks of single rows: 10 positions on the grid, which reach 2 rows further, share 12 of them.
  const array_ptr rows = array_of({100, 4}, {1, 4}, 60, record);
  const dataset_ptr times = make_windows(
      {{.axis = 0, .region = 10}}, {{"input", {rows}, {{0, 0, 2}}}, {"target", {rows}, {{0, 2}}}});
  CHECK(times->chunks() ==
        chunking{.samples = 10, .bytes = 12 * 16, .kept = rows->spec().chunks_kept / 12});
}

TEST_CASE("regions: what cannot have them is refused", "[arrays][host]") {
  const auto record = std::make_shared<numbered_chunks::record>();
  const array_ptr array = array_of({64, 64}, {8, 8}, 50, record);
  const auto refusal = [&](const std::vector<window>& windows, std::uint64_t draws) {
    return message_of<usage_error>([&] {
      (void)make_windows(windows, {{"x", {array}}}, {.draws = draws});
    });
  };
  CHECK(contains(refusal({random_along(0, 8, 16), random_along(1, 8, 16)}, 40),
                 "there are 16 regions, 4 along axis 0, 4 along axis 1, and draws is 40"));
  CHECK(contains(refusal({random_along(0, 8, 16), random_along(1, 8, 16)}, 40), "such as 48"));
  CHECK(contains(refusal({random_along(0, 8, 16), random_along(1, 8, 16)}, 16), "such as 32"));
  CHECK(contains(refusal({{0}, {.axis = 1, .region = 8}}, 1), "make it the first window"));
  CHECK(contains(refusal({{.axis = 0, .region = 8}, random_along(1, 8, 16)}, 8), "cannot both be"));
}

TEST_CASE("regions: each chunk is decoded at most 1.1 times a window of the order",
          "[arrays][pipeline][host]") {
  // Patches of a chunk's size in one volume of 24³ chunks: 4³ regions of about 6³ chunks.
  const numbers shape{96, 96, 96};
  const numbers chunk{4, 4, 4};
  constexpr std::uint64_t draws_of_region = 200;
  constexpr std::uint64_t regions_of_window = 4;
  const auto record = std::make_shared<numbered_chunks::record>();
  // Two windows of regions that touch 8 chunks along each axis, less than a third of all chunks.
  const array_ptr array = array_of(shape, chunk, 2 * regions_of_window * 512, record);
  const auto set =
      make_windows({random_along(0, 4, 24), random_along(1, 4, 24), random_along(2, 4, 24)},
                   {{"x", {array}}}, {.draws = 64 * draws_of_region});
  REQUIRE(array->spec().chunks_kept < 24 * 24 * 24 / 2);
  const std::uint64_t lanes = GENERATE(1U, 2U);
  const shuffle order{.seed = 3, .within = feedline::chunks(regions_of_window), .lanes = lanes};
  const auto chunks_of = [&](std::uint32_t first, std::set<std::uint64_t>& all) {
    const std::array<std::uint64_t, 3> at{first / 9216, first / 96 % 96, first % 96};
    for (std::uint64_t corner = 0; corner < 8; ++corner) {
      std::uint64_t number = 0;
      for (std::size_t d = 0; d < 3; ++d)
        number = number * 24 + (at[d] + (corner >> d) % 2 * 3) / 4;
      all.insert(number);
    }
  };
  for (const int readers : {0, 3}) {
    for (const int world : {1, 2}) {
      std::uint64_t needed = 0;
      const std::uint64_t before = record->reads;
      for (int rank = 0; rank < world; ++rank) {
        loader_options options{
            .batch_size = 16 / static_cast<std::uint64_t>(world), .epochs = 1, .readers = readers};
        options.shard = {.rank = rank, .world = world};
        loader from{set, order, make_host_device(), options};
        // The samples of a window are consecutive in the order, or in that of each lane.
        std::set<std::uint64_t> window_chunks;
        std::uint64_t taken = 0;
        const std::uint64_t window_samples =
            regions_of_window * draws_of_region / static_cast<std::uint64_t>(world);
        for (batch& each : from.epoch(0)) {
          const auto values = each["x"].values<std::uint32_t>();
          for (std::uint64_t i = 0; i < each.size(); ++i) chunks_of(values[i * 64], window_chunks);
          taken += each.size();
          if (taken % window_samples != 0) continue;
          needed += window_chunks.size();
          window_chunks.clear();
        }
        CHECK(taken == set->size() / static_cast<std::uint64_t>(world));
      }
      const double ratio =
          static_cast<double>(record->reads - before) / static_cast<double>(needed);
      INFO(readers << " readers, " << world << " ranks, " << lanes << " lanes: " << ratio);
      CHECK(ratio <= 1.1);
      // A patch needs 8 chunks; a full shuffle would find less than a half of them in memory.
      CHECK(record->reads - before < 3 * set->size());
    }
  }
}

TEST_CASE("regions: an epoch continues from a state, by another number of readers",
          "[arrays][pipeline][host]") {
  const auto record = std::make_shared<numbered_chunks::record>();
  const array_ptr array = array_of({32, 32}, {4, 4}, 24, record);
  const auto set = make_windows({random_along(0, 4, 8), random_along(1, 4, 8)}, {{"x", {array}}},
                                {.draws = 16 * 8});
  const auto make = [&](int readers) {
    return loader{set,
                  shuffle{.seed = 3, .within = feedline::chunks(2)},
                  make_host_device(),
                  {.batch_size = 8, .readers = readers}};
  };
  const auto batches = [](loader& from, std::uint64_t most) {
    std::vector<std::vector<std::uint32_t>> all;
    for (batch& each : from.epoch(1)) {
      const auto values = each["x"].values<std::uint32_t>();
      all.emplace_back(values.begin(), values.end());
      if (all.size() == most) break;
    }
    return all;
  };
  loader whole = make(2);
  const auto all = batches(whole, ~0ULL);
  REQUIRE(all.size() == 16);
  loader begun = make(3);
  const auto front = batches(begun, 5);
  loader resumed = make(0);
  resumed.seek(begun.state());
  const auto rest = batches(resumed, ~0ULL);
  REQUIRE(rest.size() == 11);
  CHECK(std::equal(front.begin(), front.end(), all.begin()));
  CHECK(std::equal(rest.begin(), rest.end(), all.begin() + 5));
}
