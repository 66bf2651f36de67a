/// Samples that cannot be read, with mixing: a replacement sample takes part instead.

#include <feedline/error.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/mixing/mixed_images.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "transform/field_conversions.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const sampler order = shuffle{.seed = 5};

/// Images of which some cannot be read.
dataset_ptr bad_images(const sample_set& bad) {
  return gated(mixed_images::make(), [bad](std::span<const sample_index> run) {
    for (const sample_index each : run)
      if (bad.count(each.value) != 0) throw dataset_error{{"a.bin", "image", each.value}, "bad"};
  });
}

loader_options tolerant(error_action action, std::uint64_t batch_size, int readers) {
  loader_options options = mixed_images::mixed(batch_size, readers);
  options.errors = {.action = action,
                    .substitute = 20,
                    .first_pause = std::chrono::milliseconds{0},
                    .max_share = 1};
  return options;
}

}  // namespace

TEST_CASE(
    "mixing: samples that are left out or replaced change the mixed pairs in the same way "
    "everywhere",
    "[reader][host]") {
  const log_capture unheard;
  const auto action = GENERATE(error_action::skip, error_action::substitute);
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const std::uint64_t batch_size = GENERATE(7U, 8U, 45U);
  const auto last = GENERATE(partial_batch::keep, partial_batch::fill);
  CAPTURE(static_cast<int>(action), to_string(through), batch_size, static_cast<int>(last));
  const sample_set bad{0, 3, 4, 11, 30, 31, 44};
  loader_options options = tolerant(action, batch_size, 0);
  options.partial_batch = last;
  const auto expected = deliver_mixed(data_path::in_place, bad_images(bad), order, options);
  const pair_mixing by =
      detail::convert_fields(mixed_images::make()->fields(), options.transforms, options.mixing)
          .mixing.value();
  std::uint64_t samples = 0;
  for (const mixed_batch& batch : expected) {
    CHECK(wrong_elements(batch, by, 77) == 0);
    for (const std::uint64_t id : batch.ids) CHECK(bad.count(id) == 0);
    samples += batch.ids.size();
  }
  if (last == partial_batch::keep) CHECK(samples == 2 * (action == error_action::skip ? 38 : 45));
  for (const int readers : {0, 3}) {
    options.readers = readers;
    for (const std::size_t piece : {std::size_t{0}, 3 * mixed_images::row_bytes}) {
      options.expert.piece_bytes = piece;
      CHECK((deliver_mixed(through, bad_images(bad), order, options) == expected));
    }
  }
}

TEST_CASE("mixing: batches before one that cannot be read are mixed", "[reader][host]") {
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const std::uint64_t batches_per_slot = GENERATE(1U, 4U);
  CAPTURE(to_string(through), batches_per_slot);
  loader_options options = mixed_images::mixed(8, 2);
  options.expert.batches_per_slot = batches_per_slot;
  const auto expected = deliver_mixed(data_path::in_place, mixed_images::make(), order, options, 1);
  const std::uint64_t bad = expected[3].ids[2];
  const path_setup by{through};
  loader loader = load_mixed(by, bad_images({bad}), order, options);
  std::vector<mixed_batch> seen;
  CHECK_THROWS_AS(take_batches(loader, by, 0, seen), stage_error);
  if (by.stream) by.on.device->drain(by.stream);
  CHECK((seen == std::vector(expected.begin(), expected.begin() + 3)));
}
