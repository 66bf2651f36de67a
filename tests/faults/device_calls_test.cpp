/// A device that refuses a call, whichever it is: for each n the n-th call of all kinds together,
/// until no call is left that could be refused.

#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const std::vector<data_path> on_device{
    data_path::stream,      data_path::transformed, data_path::gather, data_path::resident,
    data_path::cached_half, data_path::cached_few,  data_path::decoded};

/// Whether an exception has the scripted device's message.
bool tells(const std::exception& failure) {
  return std::string{failure.what()}.find("the scripted device fails this call as told") !=
         std::string::npos;
}

/// Consumes epochs to their end, or to the first failure, which must name the refusal and come
/// again.
void consume_two_epochs(loader& loader, const path_setup& by, recorder& record) {
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    auto range = loader.epoch(epoch, by.stream);
    try {
      while (const auto taken = range.next()) record(*taken);
    } catch (const stage_error& failure) {
      CHECK(tells(failure));
      CHECK_THROWS_AS((void)range.next(), stage_error);
      throw;
    } catch (const device_error& bare) {
      FAIL_CHECK("a step throws what is no stage_error: " << bare.what());
      throw;
    }
  }
}

/// Makes, consumes and destroys a loader whose device refuses some calls from the n-th on.
/// @return Whether it came to that.
bool refuses(data_path through, int readers, std::uint64_t nth, std::uint64_t times) {
  const log_capture log;
  const path_setup by{through};
  scripted_device& device = *by.on.device;
  recorder record{by.looks()};
  bool failed = false;
  device.fail_any_call(nth, times);
  try {
    loader loader =
        by.load(make_identity_rows(16, 8), shuffle{.seed = 8},
                {.batch_size = 4,
                 .epochs = 2,
                 .readers = readers,
                 .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}});
    consume_two_epochs(loader, by, record);
  } catch (const device_error& refusal) {  // at construction, or as a batch was taken
    failed = true;
    CHECK(tells(refusal));
  } catch (const stage_error&) {
    failed = true;
  }
  const bool came = device.any_call_failed();
  device.fail_any_call(0);
  CHECK(all_intact(record.seen()));
  if (!failed) CHECK(record.seen().size() == 8);
  CHECK(device.freed_in_use() == 0);
  CHECK(device.mappings() == 0);
  CHECK(device.handles() == 1);  // the consumer's stream
  const auto left =
      device.allocated_bytes(memory_kind::staging) + device.allocated_bytes(memory_kind::device);
  // Memory that the device may still use is not freed, and the log says so.
  if (log.text().find(" are never freed: ") == std::string::npos) CHECK(left == 0);
  return came;
}

}  // namespace

TEST_CASE("faults: a device may refuse any call, while a loader is made, runs and is destroyed",
          "[device][loader][host]") {
  const data_path through = GENERATE(from_range(on_device));
  const int readers = GENERATE(0, 2);
  const std::uint64_t times = GENERATE(1U, 2U, 1'000'000U);
  std::uint64_t nth = 1 + first_case(static_cast<std::uint64_t>(through) + times);
  for (bool came = true; came && nth < 1000; nth += case_stride) {
    CAPTURE(to_string(through), readers, nth, times);
    came = refuses(through, readers, nth, times);
  }
  CHECK(nth > 30);
  CHECK(nth < 1000);
}
