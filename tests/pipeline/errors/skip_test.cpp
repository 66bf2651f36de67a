/// Samples that cannot be read are left out: on every path the left-out samples and the order of
/// the others are those of a model that goes through the epoch sample by sample.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 53;

error_policy skipping_all() {
  return {
      .action = error_action::skip, .first_pause = std::chrono::milliseconds{0}, .max_share = 1};
}

/// About one in `every`, others for each seed.
sample_set some_bad(std::uint64_t seed, std::uint64_t every) {
  sample_set bad;
  for (std::uint64_t i = 0; i < sample_count; ++i) {
    if ((i * 2654435761U + seed * 40503U) / 7 % every == 0) bad.insert(i);
  }
  return bad;
}

/// Shapes of slots, pieces and requests.
std::vector<loader_options> all_cuts() {
  return {{.batch_size = 7, .expert = {.batches_per_slot = 1}},
          {.batch_size = 7, .expert = {.batches_per_slot = 3, .request_bytes = 40}},
          {.batch_size = 7, .epochs = 3},
          {.batch_size = 7, .expert = {.piece_bytes = 50, .request_bytes = 40}},
          {.batch_size = 60, .expert = {.piece_bytes = 100}}};
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> failed_of(const failure_report& report) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failed;
  for (const sample_failure& each : report.first)
    failed.emplace_back(each.position.value, each.sample.value);
  return failed;
}

}  // namespace

TEST_CASE(
    "skip: each bad sample is replaced by the epoch's last one, on every path, with any readers, "
    "slots and pieces",
    "[reader][host]") {
  const log_capture unheard;
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(0, 1, 3);
  const sampler order = shuffle{.seed = 5};
  std::uint64_t seed = 0;
  static combinations cases;
  for (loader_options options : all_cuts()) {
    for (const std::uint64_t every : {20U, 5U, 2U}) {
      if (!cases.takes_next()) continue;
      CAPTURE(to_string(through), readers, options.batch_size, options.expert.batches_per_slot,
              options.expert.piece_bytes, every);
      const sample_set bad = some_bad(++seed, every);
      modelled_epoch expected;
      std::vector<std::vector<std::uint64_t>> batches;
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        const auto of = skipping(order_of_epoch(order, sample_count, epoch), bad);
        const auto more = in_batches(of.delivered, options.batch_size);
        batches.insert(batches.end(), more.begin(), more.end());
        expected.failed.insert(expected.failed.end(), of.failed.begin(), of.failed.end());
      }
      options.readers = readers;
      options.errors = skipping_all();
      const path_setup by{through};
      loader loader = by.load(make_bad_rows(sample_count, bad), order, options);
      const batch_log got = take_epochs(loader, by, 0, 3);
      CHECK(got.batches == batches);
      CHECK(std::count(got.repeats.begin(), got.repeats.end(), 0U) ==
            static_cast<std::ptrdiff_t>(got.repeats.size()));
      CHECK(loader.failures().count == expected.failed.size());
      expected.failed.resize(std::min<std::size_t>(expected.failed.size(), 100));
      CHECK(failed_of(loader.failures()) == expected.failed);
    }
  }
}

TEST_CASE("skip: bad samples at the epoch's end are cut off, and all bad make an empty epoch",
          "[reader][host]") {
  const log_capture unheard;
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(0, 2);
  const std::uint64_t good = GENERATE(0U, 1U, 4U, 7U, 8U, 9U, 19U);
  const std::uint64_t batches_per_slot = GENERATE(1U, 2U, 5U);
  CAPTURE(to_string(through), readers, good, batches_per_slot);
  sample_set bad;
  for (std::uint64_t i = good; i < 20; ++i) bad.insert(i);
  std::vector<std::uint64_t> first;
  for (std::uint64_t i = 0; i < good; ++i) first.push_back(i);
  const path_setup by{through};
  loader loader = by.load(make_bad_rows(20, bad), sequential{},
                          {.batch_size = 4,
                           .readers = readers,
                           .errors = skipping_all(),
                           .expert = {.batches_per_slot = batches_per_slot}});
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    CHECK(take_epochs(loader, by, epoch, epoch + 1).batches == in_batches(first, 4));
    CHECK(loader.state().epoch == epoch + 1);
  }
  CHECK(loader.failures().count == 2 * (20 - good));
}

TEST_CASE("skip: the rest of a shortened epoch is dropped or filled like any last batch",
          "[reader][host]") {
  const log_capture unheard;
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(0, 2);
  const auto policy = GENERATE(partial_batch::drop, partial_batch::fill);
  const std::size_t piece_bytes = GENERATE(0U, 60U);
  CAPTURE(to_string(through), readers, static_cast<int>(policy), piece_bytes);
  for (std::uint64_t samples = 9; samples < 17; ++samples) {
    for (std::uint64_t count = first_case(samples); count < samples; count += case_stride) {
      sample_set bad;
      for (std::uint64_t i = 0; i < count; ++i) bad.insert((5 + i * 3) % samples);
      const auto order = order_of_epoch(sequential{}, samples, 0);
      auto expected = skipping(order, bad).delivered;
      if (policy == partial_batch::drop) expected.resize(expected.size() / 4 * 4);
      std::vector<std::uint64_t> repeats((expected.size() + 3) / 4);
      const auto first_good =
          std::find_if(order.begin(), order.end(), [&](auto each) { return bad.count(each) == 0; });
      for (std::uint64_t at = expected.size(); expected.size() % 4 != 0; ++at) {
        const std::uint64_t there = order[at % samples];
        expected.push_back(bad.count(there) == 0 ? there : *first_good);
        ++repeats.back();
      }
      CAPTURE(samples, count);
      const path_setup by{through};
      loader loader = by.load(make_bad_rows(samples, bad), sequential{},
                              {.batch_size = 4,
                               .partial_batch = policy,
                               .readers = readers,
                               .errors = skipping_all(),
                               .expert = {.piece_bytes = piece_bytes}});
      const batch_log got = take_epochs(loader, by, 0, 1);
      CHECK(got.batches == in_batches(expected, 4));
      CHECK(got.repeats == repeats);
    }
  }
}

TEST_CASE("skip: a failure is reported with epoch, position, sample, path, words and replacement",
          "[loader][host]") {
  const log_capture heard;
  const path_setup by{data_path::stream};
  loader loader = by.load(make_bad_rows(20, {6, 19}), sequential{},
                          {.batch_size = 4, .errors = skipping_all()});
  CHECK(loader.failures().count == 0);
  (void)take_epochs(loader, by, 2, 3);
  const failure_report report = loader.failures();
  CHECK(report.count == 2);
  CHECK(report.recovered_reads == 0);
  REQUIRE(report.first.size() == 2);
  const sample_failure& first = report.first[0];
  CHECK(first.epoch == 2);
  CHECK(first.position == position{6});
  CHECK(first.sample == sample_index{6});
  CHECK(first.path == "disk/part-3.bin");
  CHECK(first.message == "disk/part-3.bin: field 'row', sample 6: bad checksum");
  CHECK(first.action == error_action::skip);
  CHECK(first.replaced_by == sample_index{18});
  CHECK(report.first[1].sample == sample_index{19});
  CHECK(!report.first[1].replaced_by);
  CHECK(heard.text().find("sample 6 at position 6 of epoch 2 cannot be read, and is left out: "
                          "disk/part-3.bin: field 'row', sample 6: bad checksum") !=
        std::string::npos);
  CHECK(heard.lines() == 1);  // the others of the same second are in the report alone
}

TEST_CASE("skip: failures count as their batches are taken, and those beyond the list are counted",
          "[loader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  auto policy = skipping_all();
  policy.listed = 2;
  loader loader = by.load(make_bad_rows(20, {1, 5, 9}), sequential{},
                          {.batch_size = 4, .errors = policy, .expert = {.batches_per_slot = 3}});
  auto range = loader.epoch(0, by.stream);
  for (const std::uint64_t failures : {1U, 2U, 3U}) {
    CHECK(range.next());
    CHECK(loader.failures().count == failures);
    CHECK(loader.failures().first.size() == std::min<std::uint64_t>(failures, 2));
    CHECK(loader.state().skipped == failures);
    CHECK(loader.state().unreadable == failures);
  }
}

TEST_CASE("skip: a batch whose last pieces are cut off reaches the user's function",
          "[transfer][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  sample_set bad;
  for (std::uint64_t i = 5; i < 16; ++i) bad.insert(i);
  std::uint64_t seen = 0;
  const batch_transform counting{
      .fields = {{"id", element_type::u64, {}}}, .run = [&](const batch_function_call& call) {
        seen = call.samples;
        by.on.device->launch(call.stream, [from = call.in[0].bytes(), to = call.out[0]] {
          std::memcpy(to.data(), from.data(), from.size());
        });
      }};
  loader loader = by.load(make_bad_rows(16, bad), sequential{},
                          {.batch_size = 16,
                           .readers = 1,
                           .errors = skipping_all(),
                           .expert = {.piece_bytes = 60, .batch_transform = counting}});
  CHECK(loader.plan().piece_samples < 5);
  auto range = loader.epoch(0, by.stream);
  const auto batch = range.next().value();
  CHECK(batch.size() == 5);
  CHECK(seen == 5);
  by.on.device->drain(by.stream);
  const auto ids = batch["id"].values<std::uint64_t>();
  CHECK(std::vector<std::uint64_t>(ids.begin(), ids.end()) ==
        std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK_FALSE(range.next());
}
