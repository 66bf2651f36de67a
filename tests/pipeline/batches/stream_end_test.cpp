/// A consumer may end its stream once it has ended all batches that it took there.

#include <feedline/backend/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/recording_device.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Slots of four batches: the feed holds one of which some batches were handed out.
constexpr std::uint64_t batches = 32;
loader_options options(int readers) {
  return {.batch_size = 8,
          .epochs = 3,
          .readers = readers,
          .expert = {.batches_per_slot = 4, .staging_slots = 2, .device_slots = 2}};
}

}  // namespace

TEST_CASE("stream: it is not used once the last batch taken on it has ended, whatever follows",
          "[batch][device][host]") {
  const data_path through = GENERATE(data_path::stream, data_path::transformed, data_path::gather,
                                     data_path::resident, data_path::decoded);
  const int readers = GENERATE(0, 2);
  const std::uint64_t taken = GENERATE(1U, 2U, 4U, 6U);
  CAPTURE(to_string(through), readers, taken);
  const path_setup by{through};
  loader loader = by.load(make_identity_rows(batches * 8, 8), sequential{}, options(readers));
  auto left = std::make_optional(loader.epoch(0, by.stream));
  for (std::uint64_t i = 0; i < taken; ++i) REQUIRE(left->next());
  by.on.device->drain(by.stream);
  by.on.device->destroy_stream(by.stream);  // any call on it throws from now on

  const bool range_first = GENERATE(false, true);
  if (range_first) left.reset();
  const scripted other{by.on.device, by.on.device->make_stream()};
  recorder record{other};
  for (std::uint64_t epoch = 1; epoch < 3; ++epoch) {
    for (batch& batch : loader.epoch(epoch, other.stream)) record(batch);
  }
  const auto seen = record.seen();
  CHECK(seen.size() == 2 * batches);
  CHECK(all_intact(seen));
}

TEST_CASE("stream: a loop over a range marks it once a slot, not once a batch", "[batch][host]") {
  const auto device = std::make_shared<recording_device>();
  const stream_ref stream = device->make_stream();
  loader loader{make_identity_dataset(batches * 8, 8), sequential{}, device, options(0)};
  for (batch& batch : loader.epoch(0, stream)) (void)batch;
  const auto calls = device->calls();
  CHECK(std::count_if(calls.begin(), calls.end(), [&](const recorded_call& call) {
          return call.what == device_call::record && call.stream == stream;
        }) == batches / 4);
}
