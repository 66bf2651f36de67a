#include "reader/request_partition.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstdint>
#include <memory>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::scripted_device;

namespace {

/// Slots of 20 batches of 256, read a sample at a time.
slot_plan large_rows(int readers) {
  slot_plan plan;
  plan.batch_size = 256;
  plan.batches_per_slot = 20;
  plan.request_samples = 1;
  plan.readers = readers;
  return plan;
}

constexpr std::uint64_t slot_samples = 20 * 256;

}  // namespace

TEST_CASE("request partition: slots are cut by their rows until the device holds them all",
          "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto cached =
      std::make_shared<device_row_cache>(device, std::vector<std::size_t>{16}, 3, 3);
  const request_partition under_test{large_rows(4), cached};
  for (std::uint32_t row = 0; row < 3; ++row) {
    CHECK(under_test.next().request_samples() == 1);
    cached->hold(row);
  }
  CHECK(under_test.next().request_samples() == 2048);
  CHECK(under_test.next().requests(slot_samples) == 3);
  CHECK(under_test.next().runs_per_batch() == 1);
}

TEST_CASE("request partition: where only a part is kept, rows go on being read", "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto cached =
      std::make_shared<device_row_cache>(device, std::vector<std::size_t>{16}, 5, 2);
  const request_partition under_test{large_rows(4), cached};
  cached->hold(0);
  cached->hold(1);
  CHECK(under_test.next().request_samples() == 1);
}

TEST_CASE("request partition: who shares a slot with nobody takes it whole", "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto cached =
      std::make_shared<device_row_cache>(device, std::vector<std::size_t>{16}, 1, 1);
  cached->hold(0);
  const request_partition under_test{large_rows(0), cached};
  CHECK(under_test.next().requests(slot_samples) == 1);
}

TEST_CASE("request partition: there is room for the requests of either cut", "[reader][host]") {
  CHECK(request_partition{large_rows(4)}.max_requests(slot_samples) == slot_samples);
  slot_plan small_rows = large_rows(4);
  small_rows.request_samples = slot_samples;
  CHECK(request_partition{small_rows}.max_requests(slot_samples) == 1);
  small_rows.request_samples = 256;
  CHECK(request_partition{small_rows}.max_requests(slot_samples) == 20);
}
