/// Epochs with samples that cannot be read, over many configurations: what is delivered, and where
/// an epoch ends for its failures, are those of a model that goes sample by sample.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Result of an epoch.
struct outcome {
  std::vector<std::vector<std::uint64_t>> batches;
  bool fails = false;

  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome take(loader& loader, const path_setup& by, std::uint64_t epoch,
             std::uint64_t most = UINT64_MAX) {
  outcome got;
  recorder record{by.looks()};
  try {
    auto range = loader.epoch(epoch, by.stream);
    for (std::uint64_t taken = 0; taken < most; ++taken) {
      auto batch = range.next();
      if (!batch) break;
      record(*batch);
    }
  } catch (const stage_error&) {
    got.fails = true;
  }
  for (const seen_batch& each : record.seen()) {
    CHECK(each.intact);
    got.batches.push_back(each.samples);
  }
  return got;
}

/// A configuration out of all, by its number.
struct configuration {
  explicit configuration(std::uint64_t number) : draw{number} {
    samples = pick(1, 70);
    const sample_index only{pick(0, samples - 1)};
    const std::uint64_t kind = pick(0, 3);
    const std::uint64_t tail = pick(0, samples - 1);
    const std::uint64_t percent = pick(1, 100);
    for (std::uint64_t i = 0; i < samples; ++i) {
      const bool is_bad = kind == 0   ? i >= tail
                          : kind == 1 ? i < tail
                          : kind == 2 ? pick(1, 100) <= percent
                                      : pick(1, 100) <= 5;
      if (is_bad && i != only.value) bad.insert(i);
    }
    if (pick(0, 1) == 1) order = shuffle{.seed = number};
    options.batch_size = pick(1, 20);
    options.partial_batch =
        std::vector{partial_batch::keep, partial_batch::drop, partial_batch::fill}[pick(0, 2)];
    options.readers = static_cast<int>(pick(0, 2));
    options.expert.batches_per_slot = pick(0, 3);
    if (pick(0, 3) == 0) options.expert.piece_bytes = 50;
    if (pick(0, 1) == 0) options.expert.request_bytes = 40;
    const bool skips = pick(0, 1) == 0;
    options.errors = {.action = skips ? error_action::skip : error_action::substitute,
                      .substitute = only.value,
                      .max_share = std::vector{0.0, 0.05, 0.2, 0.5, 1.0}[pick(0, 4)]};
    if (!skips) {
      const std::uint64_t world = pick(1, 3);
      options.shard = {.rank = static_cast<int>(pick(0, world - 1)),
                       .world = static_cast<int>(world)};
    }
    through = first_reading_data_paths()[pick(0, first_reading_data_paths().size() - 1)];
    // Nothing would be left of the epoch to drop from.
    if (options.partial_batch == partial_batch::drop &&
        samples < options.batch_size * static_cast<std::uint64_t>(options.shard.world))
      options.partial_batch = partial_batch::keep;
  }

  [[nodiscard]] modelled_run model(std::uint64_t epoch) const {
    const auto positions = order_of_epoch(order, samples, epoch);
    const error_policy& errors = options.errors;
    return errors.action == error_action::skip
               ? run_skipping(positions, bad, options.batch_size, options.partial_batch,
                              errors.max_share)
               : run_substituting(positions, bad, options.batch_size, options.partial_batch,
                                  errors.max_share, errors.substitute, options.shard);
  }
  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return low + draw() % (high - low + 1);
  }

  std::mt19937_64 draw;
  std::uint64_t samples = 0;
  sample_set bad;
  sampler order{sequential{}};
  loader_options options;
  data_path through = data_path::stream;
};

constexpr std::uint64_t configurations = 600;

}  // namespace

TEST_CASE(
    "model: deliveries, failures and ends of epochs are the model's, over many configurations",
    "[reader][host]") {
  const log_capture unheard;
  std::uint64_t failing = 0;
  std::uint64_t dropped = 0;
  for (std::uint64_t number = first_case(0); number < configurations; number += case_stride) {
    const configuration of{number};
    CAPTURE(number, of.samples, of.options.batch_size, to_string(of.through));
    const path_setup by{of.through};
    loader loader = by.load(make_bad_rows(of.samples, of.bad), of.order, of.options);
    const modelled_run first = of.model(0);
    CHECK(take(loader, by, 0) == outcome{first.batches, first.fails});
    CHECK(loader.failures().count == first.failures);
    CHECK(loader.statistics().unreadable_samples == first.failures);
    failing += first.fails ? 1 : 0;
    dropped += first.fails && of.options.partial_batch == partial_batch::drop ? 1 : 0;
    if (first.fails) continue;
    const modelled_run second = of.model(1);
    CHECK(take(loader, by, 1) == outcome{second.batches, second.fails});
    CHECK(loader.failures().count == first.failures + second.failures);
    CHECK(loader.statistics().unreadable_samples == first.failures + second.failures);
  }
  if constexpr (case_stride == 1) {  // the configurations are what they are meant to be
    CHECK(failing > configurations / 10);
    CHECK(failing < configurations / 2);
    CHECK(dropped > 10);
  }
}

TEST_CASE("model: an epoch that is cut and resumed ends where the undisturbed one does",
          "[reader][loader][host]") {
  const log_capture unheard;
  for (std::uint64_t number = first_case(0); number < configurations; number += case_stride) {
    configuration of{number};
    of.options.shard = {};  // ranks count from 0 after a seek
    const modelled_run whole = of.model(0);
    const std::uint64_t cut = number % (whole.batches.size() + 1);
    CAPTURE(number, of.samples, of.options.batch_size, cut, to_string(of.through));
    const path_setup before{of.through};
    loader first = before.load(make_bad_rows(of.samples, of.bad), of.order, of.options);
    outcome got = take(first, before, 0, cut);
    REQUIRE(!got.fails);
    auto state = first.state();
    if (state.epoch != 0) continue;  // its end was seen
    const path_setup after{first_reading_data_paths()[number % first_reading_data_paths().size()]};
    of.options.expert.batches_per_slot = number % 4;
    loader second = after.load(make_bad_rows(of.samples, of.bad), of.order, of.options);
    state.transforms = second.state().transforms;  // one of the ways converts a field
    second.seek(state);
    const outcome rest = take(second, after, 0);
    got.batches.insert(got.batches.end(), rest.batches.begin(), rest.batches.end());
    CHECK(got.batches == whole.batches);
    CHECK(rest.fails == whole.fails);
    CHECK(first.failures().count + second.failures().count == whole.failures);
  }
}
