/// The share of an epoch that may be unreadable: an epoch with more ends, always at the same batch.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/ways.hpp"

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

end_of_run run(loader& loader, const travelling& by, std::uint64_t epoch) {
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

TEST_CASE("cap: a share that is reached exactly is allowed, and counts anew in each epoch",
          "[reader][host]") {
  const log_capture unheard;
  const travelling by{GENERATE(from_range(first_reading_ways()))};
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
    "cap: one more ends the epoch behind the good batches, and the error says how many of how many "
    "failed, the limit, the last cause and what to do",
    "[reader][host]") {
  const log_capture unheard;
  const way through = GENERATE(from_range(first_reading_ways()));
  const int readers = GENERATE(0, 1, 3);
  const std::uint64_t batches_per_slot = GENERATE(1U, 3U);
  const travelling by{through};
  loader loader = by.load(make_bad_rows(40, {2, 3, 17, 18, 30}), sequential{},
                          {.batch_size = 4,
                           .readers = readers,
                           .batches_per_slot = batches_per_slot,
                           .request_bytes = 40,
                           .errors = {.action = error_action::skip, .max_share = 0.05}});
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
  const travelling by{way::stream};
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
  const travelling by{GENERATE(from_range(first_reading_ways()))};
  // Sample 5's place would be taken by 39, 38 or 37: the third bad one is one too many.
  loader loader =
      by.load(make_bad_rows(40, {5, 38, 39}), sequential{},
              {.batch_size = 4, .errors = {.action = error_action::skip, .max_share = 0.05}});
  const auto end = run(loader, by, 0);
  CHECK(end.batches == 1);
  REQUIRE(end.failure);
  CHECK(end.failure->where().sample == 38);
}
