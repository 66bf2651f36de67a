/// Consumers that capture their stream, as into a CUDA graph: what the loader does on it must not
/// become part of the graph.

#include <feedline/backend/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "device/deferred_free.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <optional>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

loader_options one_batch_slots(int readers) {
  return {.batch_size = 8,
          .readers = readers,
          .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
}

}  // namespace

TEST_CASE("capture: a batch is not taken on a stream that is captured, and is there after it",
          "[batch][host]") {
  const int readers = GENERATE(0, 2);
  const scripted on;
  recorder record{on};
  loader loader{make_identity_dataset(80, 16), sequential{}, on.device, one_batch_slots(readers)};
  auto range = loader.epoch(0, on.stream);
  record(*range.next());
  on.device->begin_capture(on.stream);
  CHECK(message_of<usage_error>([&] { (void)range.next(); }) ==
        "a batch cannot be taken while its stream is being captured: the graph would wait for this "
        "one copy each time it is launched. Take the batch before the capture begins, or after it");
  on.device->end_capture(on.stream);
  while (auto batch = range.next()) record(*batch);
  const auto seen = record.seen();
  CHECK(seen.size() == 10);
  CHECK(in_order_and_intact(seen));
  CHECK(on.device->captured_calls() == 0);
}

TEST_CASE("capture: a batch that ends in one is recycled after it, after the work issued before",
          "[batch][host]") {
  const scripted on;
  recorder record{on};
  loader loader{make_identity_dataset(80, 16), sequential{}, on.device, one_batch_slots(2)};
  auto range = loader.epoch(0, on.stream);
  on.device->hold_work();
  {
    auto first = range.next();
    REQUIRE(first);
    record(*first);
    on.device->begin_capture(on.stream);
  }
  on.device->end_capture(on.stream);
  record(*range.next());
  on.device->wait_for_issued_copies(4);  // both slots went back, and their copies wait
  CHECK(on.device->started_copies() == 2);
  on.device->allow_all_work();
  while (auto batch = range.next()) record(*batch);
  const auto seen = record.seen();
  CHECK(seen.size() == 10);
  CHECK(in_order_and_intact(seen));
  CHECK(on.device->captured_calls() == 0);
}

TEST_CASE("capture: a consumer that lost every slot in captures that have not ended gets an error",
          "[batch][host]") {
  const scripted on;
  const auto other = on.device->make_stream();
  loader loader{make_identity_dataset(80, 16), sequential{}, on.device, one_batch_slots(2)};
  {
    auto range = loader.epoch(0, other);
    auto first = range.next();
    auto second = range.next();
    on.device->begin_capture(other);
  }
  auto range = loader.epoch(1, on.stream);
  CHECK(
      message_of<usage_error>([&] { (void)range.next(); }) ==
      "all 2 slots are held by batches that were destroyed while their stream was being captured: "
      "end the capture before the next batch is taken, and destroy batches outside of captures");
  on.device->end_capture(other);
  CHECK(range.next());
}

TEST_CASE("capture: a loader that is destroyed in one frees its memory after it", "[batch][host]") {
  const scripted on;
  {
    loader loader{make_identity_dataset(80, 16), sequential{}, on.device, one_batch_slots(2)};
    auto range = loader.epoch(0, on.stream);
    auto first = range.next();
    on.device->begin_capture(on.stream);
  }
  CHECK(on.device->allocated_bytes(memory_kind::device) != 0);
  on.device->end_capture(on.stream);
  detail::poll_until([&] {
    detail::free_deferred();  // the next loader does this
    return on.device->allocated_bytes(memory_kind::device) == 0;
  });
  CHECK(on.device->captured_calls() == 0);
}
