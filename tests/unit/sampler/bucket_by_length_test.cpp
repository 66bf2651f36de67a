#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "sampler/bucket_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/ragged_samples.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using feedline::detail::bucket_order;
using feedline::detail::length_buckets;

namespace {

using lengths = std::vector<std::uint64_t>;

/// A dataset of this many samples, of which nothing else matters.
dataset_ptr any_dataset(std::uint64_t samples) {
  return make_memory_dataset({own("x", std::vector<std::uint8_t>(samples))});
}

sampler bound(const lengths& of, const bucket_options& options, std::uint64_t batch_size) {
  const test::log_capture unheard;
  return sampler{bucket_by_length{of, options}}.bind(*any_dataset(of.size()), batch_size);
}

std::vector<sample_index> run_of(const sampler& order, std::uint64_t samples, std::uint64_t epoch,
                                 std::uint64_t first, std::uint64_t count) {
  std::vector<sample_index> out(count, sample_index{UINT64_MAX});
  order.indices(samples, epoch, position{first}, out);
  return out;
}

std::vector<sample_index> epoch_of(const sampler& order, std::uint64_t samples,
                                   std::uint64_t epoch) {
  return run_of(order, samples, epoch, 0, samples);
}

bool is_permutation_of_all(const std::vector<sample_index>& order) {
  std::vector<char> seen(order.size(), 0);
  return std::all_of(order.begin(), order.end(), [&](sample_index index) {
    return index.value < seen.size() && seen[index.value]++ == 0;
  });
}

/// The share of an epoch's padding, were each batch padded to its own longest sample.
double padding_share(const std::vector<sample_index>& order, const lengths& of,
                     std::size_t batch_size) {
  std::uint64_t room = 0;
  std::uint64_t used = 0;
  for (std::size_t first = 0; first < order.size(); first += batch_size) {
    const std::size_t count = std::min(batch_size, order.size() - first);
    std::uint64_t longest = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      longest = std::max(longest, of[order[i].value]);
      used += of[order[i].value];
    }
    room += longest * count;
  }
  return 1 - static_cast<double>(used) / static_cast<double>(room);
}

std::size_t bucket_of(std::uint64_t length, const std::vector<std::uint64_t>& boundaries) {
  std::size_t bucket = 0;
  while (bucket < boundaries.size() && boundaries[bucket] <= length) ++bucket;
  return bucket;
}

}  // namespace

TEST_CASE("bucket by length: which sampler wants to see the dataset is known at compile time",
          "[sampler][host]") {
  STATIC_REQUIRE(bindable_sampler<bucket_by_length>);
  STATIC_REQUIRE(sampler_like<bucket_order>);
}

TEST_CASE("bucket by length: every sample stands exactly once in an epoch, for all small sizes",
          "[sampler][host]") {
  for (const std::uint64_t samples : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 31U, 64U, 100U, 257U})
    for (const std::uint64_t batch_size : {1U, 2U, 3U, 8U, 64U, 300U})
      for (const std::uint64_t buckets : {1U, 3U, 8U, 40U, 1000U}) {
        INFO(samples << " samples, batches of " << batch_size << ", " << buckets << " buckets");
        const lengths of = test::skewed_lengths(samples, 50);
        const auto order = bound(of, {.seed = samples, .buckets = buckets}, batch_size);
        REQUIRE(order.size(samples) == samples);
        for (std::uint64_t epoch = 0; epoch < 3; ++epoch)
          REQUIRE(is_permutation_of_all(epoch_of(order, samples, epoch)));
      }
}

TEST_CASE("bucket by length: a position's sample is the same alone and in a run of any length",
          "[sampler][host]") {
  const std::uint64_t samples = 1000;
  const lengths of = test::skewed_lengths(samples, 50);
  const std::uint64_t batch_size = GENERATE(7U, 64U, 300U);
  const auto order = bound(of, {.seed = 3}, batch_size);
  const auto whole = epoch_of(order, samples, 5);
  for (std::uint64_t first = 0; first < samples; first += 13) {
    REQUIRE(run_of(order, samples, 5, first, 1).front() == whole[first]);
    const auto count = std::min<std::uint64_t>(samples - first, 1 + first % 170);
    const auto run = run_of(order, samples, 5, first, count);
    REQUIRE(std::equal(run.begin(), run.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  CHECK(run_of(order, samples, 5, samples, 0).empty());
}

TEST_CASE("bucket by length: all whole batches but those of leftovers are of one bucket",
          "[sampler][host]") {
  const std::uint64_t samples = 1003;
  const lengths of = test::skewed_lengths(samples, 50);
  const bucket_by_length buckets{of, {.seed = 1, .buckets = 6}};
  const auto& boundaries = buckets.boundaries();
  REQUIRE(boundaries.size() == 5);
  lengths in_bucket(6);
  for (const std::uint64_t length : of) ++in_bucket[bucket_of(length, boundaries)];

  const auto order = sampler{buckets}.bind(*any_dataset(samples), 16);
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    const auto all = epoch_of(order, samples, epoch);
    lengths kept = in_bucket;  // except for what ends the epoch
    for (std::size_t i = samples - samples % 16; i < samples; ++i)
      --kept[bucket_of(of[all[i].value], boundaries)];
    lengths pure(6);
    std::uint64_t mixed = 0;
    for (std::size_t first = 0; first + 16 <= samples; first += 16) {
      std::map<std::size_t, std::uint64_t> held;
      for (std::size_t i = first; i < first + 16; ++i)
        ++held[bucket_of(of[all[i].value], boundaries)];
      if (held.size() == 1)
        ++pure[held.begin()->first];
      else
        ++mixed;
    }
    std::uint64_t wanted_mixed = samples / 16;
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(pure[i] >= kept[i] / 16);  // leftovers may happen to be of one bucket as well
      wanted_mixed -= kept[i] / 16;
    }
    CHECK(mixed <= wanted_mixed);
    CHECK(mixed > 0);
  }
}

TEST_CASE("bucket by length: batches are of more similar lengths than a plain shuffle's",
          "[sampler][host]") {
  const std::uint64_t samples = 20'000;
  const lengths of = test::skewed_lengths(samples, 2000);
  std::vector<sample_index> shuffled(samples);
  shuffle{.seed = 1}.indices(samples, 0, position{0}, shuffled);
  const double plain = padding_share(shuffled, of, 32);
  const auto of_buckets = [&](std::uint64_t buckets) {
    return padding_share(epoch_of(bound(of, {.seed = 1, .buckets = buckets}, 32), samples, 0), of,
                         32);
  };
  CHECK(plain > 0.6);
  CHECK(of_buckets(8) < 0.25);
  CHECK(of_buckets(32) < 0.12);
  CHECK(of_buckets(1) > 0.6);
}

TEST_CASE("bucket by length: batches of all lengths are mixed over the epoch", "[sampler][host]") {
  const std::uint64_t samples = 16'000;
  const lengths of = test::skewed_lengths(samples, 2000);
  const auto all = epoch_of(bound(of, {.seed = 1}, 16), samples, 0);
  std::uint64_t total = 0;
  for (const std::uint64_t length : of) total += length;
  std::uint64_t first_half = 0;
  for (std::size_t i = 0; i < samples / 2; ++i) first_half += of[all[i].value];
  // Batches of 8 kinds of length: the half's sum has a deviation of some 2 %.
  const double share = static_cast<double>(first_half) / static_cast<double>(total);
  CHECK(share > 0.42);
  CHECK(share < 0.58);
}

TEST_CASE("bucket by length: samples of a batch, and of leftovers, are others in each epoch",
          "[sampler][host]") {
  const std::uint64_t samples = 1003;
  const lengths of = test::skewed_lengths(samples, 50);
  const auto order = bound(of, {.seed = 1}, 16);
  // 11 samples follow the last whole batch: each sample at times, short ones and long ones alike.
  std::vector<std::uint64_t> times(samples);
  for (std::uint64_t epoch = 0; epoch < 4000; ++epoch)
    for (const sample_index sample : run_of(order, samples, epoch, samples - 11, 11))
      ++times[sample.value];
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  CHECK(*least > 15);  // 44 are expected, with a deviation of 7
  CHECK(*most < 80);
  CHECK(epoch_of(order, samples, 0) != epoch_of(order, samples, 1));
  CHECK(epoch_of(order, samples, 0) != epoch_of(bound(of, {.seed = 2}, 16), samples, 0));
  CHECK(epoch_of(order, samples, 3) == epoch_of(bound(of, {.seed = 1}, 16), samples, 3));
}

TEST_CASE("bucket by length: boundaries are lengths at which buckets begin", "[sampler][host]") {
  const lengths of{5, 10, 9, 20, 0, 10, 19, 21};
  const auto order = bound(of, {.boundaries = {10, 20}}, 2);
  // {5, 9, 0} | {10, 10, 19} | {20, 21}: three whole batches, and the two that are left.
  const auto all = epoch_of(order, 8, 0);
  REQUIRE(is_permutation_of_all(all));
  std::vector<std::pair<std::size_t, std::size_t>> kinds;
  for (std::size_t i = 0; i < 8; i += 2) {
    const auto kind = [&](std::size_t at) { return bucket_of(of[all[at].value], {10, 20}); };
    kinds.emplace_back(kind(i), kind(i + 1));
  }
  std::sort(kinds.begin(), kinds.end());
  CHECK(kinds == std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {0, 1}, {1, 1}, {2, 2}});
  // Buckets that nothing falls into do no harm.
  CHECK(is_permutation_of_all(
      epoch_of(bound(of, {.boundaries = {0, 1, 2, 3, 100, UINT64_MAX}}, 2), 8, 0)));
}

TEST_CASE("bucket by length: with no boundaries, buckets are of about equal size",
          "[sampler][host]") {
  const auto boundaries = [](const lengths& of, std::uint64_t buckets) {
    return bucket_by_length{of, {.buckets = buckets}}.boundaries();
  };
  lengths of(1000);
  for (std::size_t i = 0; i < of.size(); ++i) of[i] = i * 7 % 1000;
  CHECK(boundaries(of, 4) == lengths{250, 500, 750});
  CHECK(boundaries(of, 1).empty());
  CHECK(boundaries(of, 1000).size() == 999);
  CHECK(boundaries(of, UINT64_MAX).size() == 999);
  // Samples of one length stay together.
  CHECK(boundaries(lengths(1000, 5), 8).empty());
  CHECK(boundaries({1, 1, 1, 1, 1, 1, 2, 3}, 4) == lengths{2});
  CHECK(boundaries({}, 8).empty());
}

TEST_CASE("bucket by length: it takes lengths from a ragged dataset", "[sampler][host]") {
  const lengths of = test::skewed_lengths(500, 40);
  const test::only_lengths ragged{of};
  const bucket_by_length order{ragged, {.seed = 9}};
  CHECK(order.table_bytes() == 2000);
  const auto data = any_dataset(500);
  CHECK(epoch_of(order.bind(*data, 16), 500, 1) == epoch_of(bound(of, {.seed = 9}, 16), 500, 1));
}

TEST_CASE("bucket by length: numbers of samples in 4 and in 8 bytes give one order",
          "[sampler][host]") {
  const lengths of = test::skewed_lengths(500, 40);
  const auto narrow = std::make_shared<const length_buckets>(of, lengths{10, 20}, 500);
  const auto wide = std::make_shared<const length_buckets>(of, lengths{10, 20}, 499);
  CHECK(narrow->table_bytes() == 2000);
  CHECK(wide->table_bytes() == 4000);
  CHECK(epoch_of(bucket_order{narrow, 1, 16}, 500, 0) ==
        epoch_of(bucket_order{wide, 1, 16}, 500, 0));
}

TEST_CASE("bucket by length: invalid options are refused, with the reason", "[sampler][host]") {
  const lengths of{1, 2, 3};
  const auto message = [](auto&& call) { return test::message_of<usage_error>(call); };
  CHECK(message([&] {
          (void)bucket_by_length{of, {.buckets = 0}};
        }) == "bucket_options::buckets is 0; ask for one or more, or give the boundaries");
  CHECK(message([&] {
          (void)bucket_by_length{of, {.boundaries = {1, 5, 5}}};
        }) == "bucket_options::boundaries must rise, but boundary 2 is 5 and the one before 5");
  const bucket_by_length order{of};
  const std::string unbound =
      "bucket_by_length: the batch size is not known here: give the sampler itself to a loader, or "
      "use the result of its bind(dataset, batch_size)";
  CHECK(message([&] { (void)order.size(3); }) == unbound);
  CHECK(message([&] { order.indices(3, 0, position{0}, {}); }) == unbound);
  CHECK(message([&] { (void)order.bind(*any_dataset(3), 0); }) ==
        "bucket_by_length: the batch size is 0");
  const std::string other =
      "bucket_by_length: there are 3 lengths, but the dataset has 4 samples; give it the lengths "
      "of "
      "these";
  CHECK(message([&] { (void)order.bind(*any_dataset(4), 1); }) == other);
  CHECK(message([&] { (void)order.bind(*any_dataset(3), 1).size(4); }) == other);
}

TEST_CASE("bucket by length: warns where most batches are of leftovers", "[sampler][host]") {
  const test::log_capture log;
  const lengths of = test::skewed_lengths(160, 1000);
  (void)bucket_by_length{of, {.buckets = 8}}.bind(*any_dataset(160), 16);  // 20 a bucket
  CHECK(log.text().empty());
  (void)bucket_by_length{of, {.buckets = 16}}.bind(*any_dataset(160), 16);
  CHECK(log.text() ==
        "bucket_by_length: 10 of 10 batches are of several buckets, because 160 samples in 16 "
        "buckets "
        "make few whole batches of 16: ask for fewer buckets\n");
}

// The order is stable across versions of feedline, platforms and compilers: see shuffle_test.cpp.
TEST_CASE("bucket by length: the order of given lengths is the one it has always been",
          "[sampler][host]") {
  lengths of(1003);
  for (std::size_t i = 0; i < of.size(); ++i) of[i] = i * i % 101;
  const auto order = bound(of, {.seed = 42, .buckets = 6}, 16);
  const auto start = run_of(order, 1003, 3, 30, 8);
  const auto end = run_of(order, 1003, 3, 995, 8);
  const std::array<std::uint64_t, 8> known_start{759, 123, 958, 312, 937, 685, 553, 254};
  const std::array<std::uint64_t, 8> known_end{201, 809, 170, 404, 449, 804, 769, 136};
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(start[i].value == known_start[i]);
    CHECK(end[i].value == known_end[i]);
  }
}

TEST_CASE("loader: batches by length hold each padded sample once, and its own bytes",
          "[loader][host]") {
  const lengths of = test::skewed_lengths(300, 40);
  const auto ragged = test::make_telling(of);
  const bucket_by_length order{*ragged, {.seed = 5, .buckets = 4}};
  loader loader{pad(ragged), order, make_host_device(), {.batch_size = 16, .readers = 2}};
  const auto expected = epoch_of(order.bind(*any_dataset(300), 16), 300, 1);
  std::size_t next = 0;
  for (const batch& batch : loader.epoch(1)) {
    const auto own_length = batch["pair_length"].values<std::int32_t>();
    const auto pairs = batch["pair"].values<std::int32_t>();
    const std::size_t row = pairs.size() / own_length.size();
    for (std::size_t i = 0; i < own_length.size(); ++i, ++next) {
      const std::uint64_t sample = expected[next].value;
      REQUIRE(static_cast<std::uint64_t>(own_length[i]) == of[sample]);
      const auto elements = test::telling_elements(sample, 0, of[sample]);
      REQUIRE(std::equal(elements.begin(), elements.end(), pairs.subspan(i * row).begin()));
    }
  }
  CHECK(next == 300);
}
