/// A dataset may use another loader while it is read, on the same thread.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 256;

/// Identity data; each read takes an epoch's first batches from a loader of its own, with no
/// thread.
dataset_ptr made_by_another_loader() {
  return gated(make_identity_rows(sample_count, 37), [](std::span<const sample_index> samples) {
    loader inner{make_identity_dataset(64, 5),
                 shuffle{.seed = 1},
                 make_host_device(),
                 {.batch_size = samples.size() + 3, .readers = 0}};
    recorder record;
    for (batch& batch : inner.epoch(0)) record(batch);
    if (!all_intact(record.seen())) throw std::runtime_error{"the inner loader's rows are torn"};
  });
}

}  // namespace

TEST_CASE("nested loader: a dataset whose read uses a loader with zero readers is read right",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  const loader_options options{.batch_size = 16, .readers = readers};
  const path_setup plain{through};
  loader alone = plain.load(make_identity_rows(sample_count, 37), shuffle{.seed = 8}, options);
  const auto expected = consume_epochs(alone, plain, 2);
  REQUIRE(all_intact(expected));

  const path_setup by{through};
  loader outer = by.load(made_by_another_loader(), shuffle{.seed = 8}, options);
  CHECK(consume_epochs(outer, by, 2) == expected);
}
