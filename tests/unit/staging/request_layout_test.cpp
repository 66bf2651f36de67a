#include "staging/request_layout.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::scripted_device;

namespace {

/// Sizes as they come, small ones more often: there the edges are.
std::uint64_t draw(std::mt19937_64& random, std::uint64_t most) {
  const std::uint64_t bound = std::uint64_t{1} << (random() % 12);
  return 1 + random() % std::min(bound, most);
}

struct cut_slot {
  std::uint64_t batch_size;
  std::uint64_t max_samples;
  std::uint64_t samples;
};

cut_slot draw_slot(std::mt19937_64& random) {
  const std::uint64_t batch_size = draw(random, 2'000);
  return {batch_size, draw(random, 5'000), draw(random, 4 * batch_size)};
}

/// Fault of a slot's cut; nothing if it is right.
const char* fault_of(const request_layout& cut, const cut_slot& slot) {
  std::uint64_t next = 0;
  std::uint64_t runs = 0;
  const std::uint64_t requests = cut.requests(slot.samples);
  for (std::uint64_t number = 0; number < requests; ++number) {
    const sample_run request = cut.request(number, slot.samples);
    if (request.begin != next) return "a gap, or a sample in two requests";
    if (request.end <= request.begin) return "an empty request";
    if (request.end > slot.samples) return "a sample beyond the slot";
    if (request.end - request.begin > cut.request_samples()) return "a request too large";
    const bool whole_batches = request.begin % slot.batch_size == 0 &&
                               (request.end % slot.batch_size == 0 || request.end == slot.samples);
    const bool within_one = request.begin / slot.batch_size == (request.end - 1) / slot.batch_size;
    if (!whole_batches && !within_one) return "a request that straddles batches";
    for (std::uint64_t sample = request.begin; sample < request.end; ++sample) {
      const bool first_of_run = sample == request.begin || sample % slot.batch_size == 0;
      if (first_of_run) ++runs;
      if (cut.run_of(sample) != runs - 1) return "a run that is no request's part in a batch";
    }
    next = request.end;
  }
  if (next != slot.samples) return "samples that no request holds";
  if (runs != cut.runs(slot.samples)) return "a wrong number of runs";
  return nullptr;
}

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

TEST_CASE("request layout: every sample of a slot is in one request and in one run, in order",
          "[reader][host]") {
  std::mt19937_64 random{20261121};
  for (int round = 0; round < 5'000; ++round) {
    const cut_slot slot = draw_slot(random);
    const request_layout cut{slot.batch_size, slot.max_samples};
    const char* const fault = fault_of(cut, slot);
    if (fault == nullptr) continue;
    CAPTURE(slot.batch_size, slot.max_samples, slot.samples);
    FAIL(fault);
  }
}

TEST_CASE("request layout: a request has at most the size asked for, or one sample",
          "[reader][host]") {
  std::mt19937_64 random{7};
  for (int round = 0; round < 5'000; ++round) {
    const cut_slot slot = draw_slot(random);
    const request_layout cut{slot.batch_size, slot.max_samples};
    CAPTURE(slot.batch_size, slot.max_samples);
    REQUIRE(cut.request_samples() <= slot.max_samples);
    // Less than half of it only where whole batches do not fit twice, or parts are equal.
    REQUIRE(2 * cut.request_samples() > std::min(slot.max_samples, slot.batch_size));
  }
}

TEST_CASE("request layout: the size that it settled on settles the same cut again",
          "[reader][host]") {
  std::mt19937_64 random{11};
  for (int round = 0; round < 5'000; ++round) {
    const cut_slot slot = draw_slot(random);
    const request_layout cut{slot.batch_size, slot.max_samples};
    slot_plan plan;
    plan.batch_size = slot.batch_size;
    plan.request_samples = cut.request_samples();
    const request_layout again{plan};
    CAPTURE(slot.batch_size, slot.max_samples);
    REQUIRE(again.request_samples() == cut.request_samples());
    REQUIRE(again.run_samples() == cut.run_samples());
    REQUIRE(again.runs_per_batch() == cut.runs_per_batch());
  }
}

TEST_CASE("request layout: whole batches share a request as far as they fit", "[reader][host]") {
  const request_layout cut{10, 35};
  CHECK(cut.request_samples() == 30);
  CHECK(cut.runs_per_batch() == 1);
  CHECK(cut.run_samples() == 10);
  CHECK(cut.requests(75) == 3);
  CHECK(cut.runs(75) == 8);
  CHECK(cut.request(2, 75).begin == 60);
  CHECK(cut.request(2, 75).end == 75);
}

TEST_CASE("request layout: a batch larger than a request is cut into equal parts",
          "[reader][host]") {
  const request_layout cut{10, 4};
  CHECK(cut.request_samples() == 4);  // 4 4 2, not 3 3 3 1
  CHECK(cut.runs_per_batch() == 3);
  CHECK(cut.requests(25) == 8);  // 4 4 2 | 4 4 2 | 4 1
  CHECK(cut.request(2, 25).begin == 8);
  CHECK(cut.request(2, 25).end == 10);
  CHECK(cut.request(7, 25).begin == 24);
  CHECK(cut.request(7, 25).end == 25);
  CHECK(request_layout{1'000, 501}.run_samples() == 500);
  CHECK(request_layout{1'000, 1}.runs_per_batch() == 1'000);
}

TEST_CASE("request partition: slots are cut by their rows until the device holds them all",
          "[staging][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto cached =
      std::make_shared<device_row_cache>(device, std::vector<std::size_t>{16}, 3, 3);
  const request_partition under_test{large_rows(4), cached};
  for (std::uint32_t row = 0; row < 3; ++row) {
    CHECK(under_test.next(slot_samples).request_samples() == 1);
    cached->hold(row);
  }
  CHECK(under_test.next(slot_samples).request_samples() == 2048);
  CHECK(under_test.next(slot_samples).requests(slot_samples) == 3);
  CHECK(under_test.next(slot_samples).runs_per_batch() == 1);
}

TEST_CASE("request partition: if only a part is kept, rows are still read", "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto cached =
      std::make_shared<device_row_cache>(device, std::vector<std::size_t>{16}, 5, 2);
  const request_partition under_test{large_rows(4), cached};
  cached->hold(0);
  cached->hold(1);
  CHECK(under_test.next(slot_samples).request_samples() == 1);
}

TEST_CASE("request partition: a reader that shares a slot with no other takes it whole",
          "[reader][host]") {
  const auto device = std::make_shared<scripted_device>();
  const auto cached =
      std::make_shared<device_row_cache>(device, std::vector<std::size_t>{16}, 1, 1);
  cached->hold(0);
  const request_partition under_test{large_rows(0), cached};
  CHECK(under_test.next(slot_samples).requests(slot_samples) == 1);
}

TEST_CASE("request partition: a slot is cut for the readers that do not rest", "[reader][host]") {
  slot_plan plan = large_rows(8);
  plan.request_samples = 2'000;
  plan.min_requests = 32;
  const request_partition under_test{plan};
  CHECK(under_test.next(256, 0).requests(256) == 32);
  CHECK(under_test.next(256, 4).requests(256) == 16);
  CHECK(under_test.next(256, 6).requests(256) == 8);
  CHECK(under_test.next(256, 7).requests(256) == 4);
}

TEST_CASE("request partition: a slot of few samples is shared by all readers", "[reader][host]") {
  slot_plan plan = large_rows(8);
  plan.request_samples = 2'000;
  plan.min_requests = 16;
  const request_partition under_test{plan};
  CHECK(under_test.next(256).requests(256) == 16);
  CHECK(under_test.next(5).requests(5) == 5);
  CHECK(under_test.next(4 * 256).requests(4 * 256) == 16);
  CHECK(under_test.next(slot_samples).requests(slot_samples) == 20);  // whole batches
  plan.min_requests = 0;
  CHECK(request_partition{plan}.next(256).requests(256) == 1);
  CHECK(request_partition{plan}.next(300).requests(300) == 1);
  plan.min_requests = 16;
  for (plan.batch_size = 1; plan.batch_size < 300; ++plan.batch_size) {
    const request_partition any{plan};
    for (std::uint64_t batches = 1; batches < 40; ++batches) {
      const std::uint64_t samples = batches * plan.batch_size - plan.batch_size / 3;
      const request_layout cut = any.next(samples);
      const request_layout by_size{plan.batch_size, plan.request_samples};
      const std::uint64_t more = request_partition::more_requests(16);
      CHECK(cut.requests(samples) <= any.max_requests(40 * plan.batch_size));
      CHECK(cut.runs(samples) <= by_size.runs(40 * plan.batch_size) + more);
    }
  }
}

TEST_CASE(
    "request partition: readers that wait for processes share a slot by requests of few samples, "
    "if each process gets one",
    "[reader][host]") {
  slot_plan plan = large_rows(28);  // for 14 processes
  plan.request_samples = 20;
  plan.min_requests = 112;
  const auto samples = [&](std::uint64_t slot, int resting = 0) {
    return request_partition{plan}.next(slot, resting).request_samples();
  };
  CHECK(samples(64) == 1);
  plan.few_samples = 8;
  CHECK(samples(64) == 4);
  CHECK(samples(64, 14) == 8);  // half of the processes
  CHECK(samples(256) == 8);
  CHECK(samples(14) == 1);
  CHECK(samples(3) == 1);
  CHECK(samples(2'000) == 18);  // no more, and no fewer, than without it
  plan.request_samples = 3;
  CHECK(samples(64) == 3);
  for (plan.batch_size = 1; plan.batch_size < 300; plan.batch_size += 7)
    for (std::uint64_t slot = 1; slot < 3'000; slot += 13) {
      plan.few_samples = 0;
      const request_partition before{plan};
      plan.few_samples = 8;
      const request_partition any{plan};
      CHECK(any.next(slot).requests(slot) <= before.next(slot).requests(slot));
      CHECK(any.next(slot).requests(slot) <= any.max_requests(slot));
    }
}

TEST_CASE("request partition: there is room for the requests of either cut", "[reader][host]") {
  CHECK(request_partition{large_rows(4)}.max_requests(slot_samples) == slot_samples);
  slot_plan small_rows = large_rows(4);
  small_rows.request_samples = slot_samples;
  CHECK(request_partition{small_rows}.max_requests(slot_samples) == 1);
  small_rows.request_samples = 256;
  CHECK(request_partition{small_rows}.max_requests(slot_samples) == 20);
}
