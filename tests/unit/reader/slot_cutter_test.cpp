#include "reader/slot_cutter.hpp"

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

TEST_CASE("slot cutter: slots are cut by their rows until the device holds them all",
          "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto kept = std::make_shared<kept_rows>(device, std::vector<std::size_t>{16}, 3, 3);
  const slot_cutter under_test{large_rows(4), kept};
  for (std::uint32_t row = 0; row < 3; ++row) {
    CHECK(under_test.next().request_samples() == 1);
    kept->hold(row);
  }
  CHECK(under_test.next().request_samples() == 2048);
  CHECK(under_test.next().requests(slot_samples) == 3);
  CHECK(under_test.next().runs_per_batch() == 1);
}

TEST_CASE("slot cutter: where only a part is kept, rows go on being read", "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto kept = std::make_shared<kept_rows>(device, std::vector<std::size_t>{16}, 5, 2);
  const slot_cutter under_test{large_rows(4), kept};
  kept->hold(0);
  kept->hold(1);
  CHECK(under_test.next().request_samples() == 1);
}

TEST_CASE("slot cutter: who shares a slot with nobody takes it whole", "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto kept = std::make_shared<kept_rows>(device, std::vector<std::size_t>{16}, 1, 1);
  kept->hold(0);
  const slot_cutter under_test{large_rows(0), kept};
  CHECK(under_test.next().requests(slot_samples) == 1);
}

TEST_CASE("slot cutter: there is room for the requests of either cut", "[reader][host]") {
  CHECK(slot_cutter{large_rows(4)}.most_requests(slot_samples) == slot_samples);
  slot_plan small_rows = large_rows(4);
  small_rows.request_samples = slot_samples;
  CHECK(slot_cutter{small_rows}.most_requests(slot_samples) == 1);
  small_rows.request_samples = 256;
  CHECK(slot_cutter{small_rows}.most_requests(slot_samples) == 20);
}
