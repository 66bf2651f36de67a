/// The share of an epoch that may be unreadable: an epoch with more ends, always at the same batch.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <optional>
#include <string>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Batches until the error, and the error.
struct end_of_run {
  std::uint64_t batches = 0;
  std::optional<stage_error> failure = {};
};

end_of_run run(loader& loader, const path_setup& by, std::uint64_t epoch) {
  end_of_run end;
  auto range = loader.epoch(epoch, by.stream);
  try {
    while (range.next()) ++end.batches;
  } catch (const stage_error& thrown) {
    end.failure.emplace(thrown);
  }
  return end;
}

}  // namespace

TEST_CASE("cap: a share that is reached exactly is allowed, and each epoch counts from 0",
          "[reader][host]") {
  const log_capture unheard;
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  const auto action = GENERATE(error_action::skip, error_action::substitute);
  // 0.29 × 100 is less than 29 in doubles.
  sample_set bad;
  for (std::uint64_t i = 10; i < 39; ++i) bad.insert(i);
  loader loader = by.load(
      make_bad_rows(100, bad), shuffle{.seed = 1},
      {.batch_size = 10, .readers = readers, .errors = {.action = action, .max_share = 0.29}});
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) CHECK(!run(loader, by, epoch).failure);
  CHECK(loader.failures().count == 3 * 29);
}

TEST_CASE(
    "cap: one more ends the epoch after the good batches, and the error says how many of how many "
    "failed, the limit, the last cause and what to do",
    "[reader][host]") {
  const log_capture unheard;
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(0, 1, 3);
  const std::uint64_t batches_per_slot = GENERATE(1U, 3U);
  const path_setup by{through};
  loader loader = by.load(make_bad_rows(40, {2, 3, 17, 18, 30}), sequential{},
                          {.batch_size = 4,
                           .readers = readers,
                           .errors = {.action = error_action::skip, .max_share = 0.05},
                           .expert = {.batches_per_slot = batches_per_slot, .request_bytes = 40}});
  const auto end = run(loader, by, 0);
  CHECK(end.batches == 4);
  REQUIRE(end.failure);
  CHECK(end.failure->where().stage == stage::reader);
  CHECK(end.failure->where().batch == 4);
  CHECK(end.failure->where().sample == 17);
  CHECK(end.failure->where().path == "disk/part-3.bin");
  CHECK(
      std::string{end.failure->what()} ==
      "the reader stage failed in epoch 0, batch 4: disk/part-3.bin: field 'row', sample 17: 3 of "
      "the epoch's 40 samples cannot be read, and loader_options::errors.max_share is 0.05; the "
      "last one: bad checksum; see loader::failures, repair the data, or raise max_share");
  CHECK(loader.failures().count == 3);
  CHECK(!loader.failures().first.back().replaced_by);
  CHECK(loader.state().batch == 4);
  CHECK(loader.state().unreadable == 2);
}

TEST_CASE("cap: with the share 0 the first bad sample ends the epoch, at its batch",
          "[reader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  loader loader =
      by.load(make_bad_rows(40, {9}), sequential{},
              {.batch_size = 4, .errors = {.action = error_action::skip, .max_share = 0}});
  const auto end = run(loader, by, 0);
  CHECK(end.batches == 2);
  REQUIRE(end.failure);
  CHECK(end.failure->where().sample == 9);
}

TEST_CASE("cap: bad samples from the epoch's end count where they are wanted", "[reader][host]") {
  const log_capture unheard;
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  // Sample 5 would be replaced by 39, 38 or 37: the third bad one is one too many.
  loader loader =
      by.load(make_bad_rows(40, {5, 38, 39}), sequential{},
              {.batch_size = 4, .errors = {.action = error_action::skip, .max_share = 0.05}});
  const auto end = run(loader, by, 0);
  CHECK(end.batches == 1);
  REQUIRE(end.failure);
  CHECK(end.failure->where().sample == 38);
}

TEST_CASE(
    "cap: an epoch whose last batch is cut off still ends with the error, if more failed than may",
    "[reader][host]") {
  const log_capture unheard;
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  struct ending {
    std::uint64_t batch_size;
    partial_batch last;
    std::uint64_t first_bad;
    std::uint64_t end_bad;
    std::uint64_t batches;
    std::uint64_t sample;  // the first of too many
  };
  const auto of = GENERATE(
      // Batch 9 is dropped with its first bad sample; samples from its end are replacements for the
      // first.
      ending{100, partial_batch::drop, 905, 1000, 9, 950},
      ending{100, partial_batch::drop, 900, 995, 9, 950},
      // The 51st takes the last sample of its batch away.
      ending{73, partial_batch::keep, 949, 1000, 13, 950},
      ending{73, partial_batch::fill, 949, 1000, 13, 950});
  CAPTURE(to_string(by.through), readers, of.batch_size, of.first_bad, static_cast<int>(of.last));
  sample_set bad;
  for (std::uint64_t i = of.first_bad; i < of.end_bad; ++i) bad.insert(i);
  loader loader = by.load(make_bad_rows(1000, bad), sequential{},
                          {.batch_size = of.batch_size,
                           .partial_batch = of.last,
                           .readers = readers,
                           .errors = {.action = error_action::skip, .max_share = 0.05}});
  const auto end = run(loader, by, 0);
  CHECK(end.batches == of.batches);
  REQUIRE(end.failure);
  CHECK(end.failure->where().batch == of.batches);
  CHECK(end.failure->where().sample == of.sample);
  CHECK(std::string{end.failure->what()}.find("51 of the epoch's 1000 samples cannot be read, and "
                                              "loader_options::errors.max_share is 0.05") !=
        std::string::npos);
  CHECK(loader.failures().count == 51);
  CHECK(loader.statistics().unreadable_samples == 51);
}

TEST_CASE("cap: repeats count neither as samples nor as failures", "[reader][host]") {
  const log_capture unheard;
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  const double max_share = GENERATE(1.0, 0.9, 0.85);
  // 12 positions for 10 samples, of which 9 are bad; samples 0 and 1 come again.
  loader loader = by.load(
      make_bad_rows(10, {0, 1, 2, 3, 4, 5, 6, 7, 8}), sequential{},
      {.batch_size = 4,
       .partial_batch = partial_batch::fill,
       .readers = readers,
       .errors = {.action = error_action::substitute, .substitute = 9, .max_share = max_share}});
  const auto end = run(loader, by, 0);
  CHECK(end.failure.has_value() == (max_share < 0.9));
  CHECK(loader.failures().count == (max_share < 0.9 ? 9 : 11));
  if (end.failure)
    CHECK(std::string{end.failure->what()}.find("9 of the epoch's 10 samples cannot be read") !=
          std::string::npos);
}

TEST_CASE("cap: no rank fails where any share may", "[reader][host]") {
  const log_capture unheard;
  const int world = GENERATE(2, 3, 7);
  const auto last = GENERATE(partial_batch::keep, partial_batch::fill);
  sample_set bad;
  for (std::uint64_t i = 1; i < 25; ++i) bad.insert(i);
  for (int rank = 0; rank < world; ++rank) {
    const path_setup by{data_path::stream};
    loader loader = by.load(make_bad_rows(25, bad), sequential{},
                            {.batch_size = 4,
                             .partial_batch = last,
                             .shard = {.rank = rank, .world = world},
                             .errors = {.action = error_action::substitute, .max_share = 1}});
    CHECK(!run(loader, by, 0).failure);
  }
}

TEST_CASE("cap: a rank's error says of how many of its own samples", "[reader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  loader loader = by.load(make_bad_rows(25, {3, 7}), sequential{},
                          {.batch_size = 4,
                           .shard = {.rank = 0, .world = 2},
                           .errors = {.action = error_action::substitute, .max_share = 0}});
  const auto end = run(loader, by, 0);
  REQUIRE(end.failure);
  CHECK(std::string{end.failure->what()}.find(
            "1 of the epoch's 13 samples that rank 0 takes cannot be read") != std::string::npos);
}
