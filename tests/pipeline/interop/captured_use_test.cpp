/// Consumers that capture a stream while batches are used on further streams, or as DLPack tensors:
/// each call is done, or refused with nothing changed, and nothing of the loader's is captured.

#include <feedline/backend/device.hpp>
#include <feedline/batch/stream_use.hpp>
#include <feedline/interop/dlpack.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "device/deferred_free.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <memory>
#include <optional>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

struct capturing {
  scripted on;
  stream_ref further = on.device->make_stream();
  recorder record{on};
  recorder record_further{scripted{on.device, further}};

  loader load() const {
    return loader{make_identity_dataset(80, 16),
                  sequential{},
                  on.device,
                  {.batch_size = 8,
                   .readers = 1,
                   .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}}};
  }
};

std::shared_ptr<const batch> shared(optional_batch taken) {
  REQUIRE(taken);
  return std::make_shared<const batch>(std::move(*taken));
}

}  // namespace

TEST_CASE("captured use: none begins while one of the two streams is captured, and nothing is lost",
          "[batch][interop][host]") {
  capturing by;
  loader loader = by.load();
  auto range = loader.epoch(0, by.on.stream);
  {
    const auto batch = shared(range.next());
    by.on.device->begin_capture(by.further);
    const std::string refused =
        "a batch cannot be used on a stream that is being captured: the graph would wait for "
        "this one batch each time it is launched. Do it before the capture, or use the batch on "
        "the stream it was taken on";
    CHECK(message_of<usage_error>([&] { (void)stream_use{batch, by.further}; }) == refused);
    CHECK(message_of<usage_error>([&] { (void)to_dlpack(batch, "row", by.further); }) == refused);
    by.on.device->end_capture(by.further);
    by.on.device->begin_capture(by.on.stream);
    CHECK(message_of<usage_error>([&] { (void)to_dlpack(batch, "row", by.further); }) ==
          "a batch cannot be used on another stream while the one it was taken on is being "
          "captured: do it before the capture, or after it");
    by.on.device->end_capture(by.on.stream);
    CHECK(batch.use_count() == 1);
    by.record_further(*stream_use{batch, by.further});
    by.record(*batch);
  }
  CHECK(by.record_further.seen().size() == 1);
  while (auto batch = range.next()) by.record(*batch);
  CHECK(by.record.seen().size() == 10);
  CHECK(in_order_and_intact(by.record.seen()));
  CHECK(by.on.device->captured_calls() == 0);
}

TEST_CASE("captured use: a tensor on the captured stream itself is given, and freed after it",
          "[batch][interop][host]") {
  capturing by;
  loader loader = by.load();
  auto range = loader.epoch(0, by.on.stream);
  by.on.device->hold_work();
  {
    auto batch = shared(range.next());
    by.record(*batch);
    by.on.device->begin_capture(by.on.stream);
    const auto tensor = to_dlpack(std::move(batch), "row", by.on.stream);
  }  // freed during the capture
  by.on.device->end_capture(by.on.stream);
  by.record(*range.next());
  by.on.device->wait_for_issued_copies(4);
  CHECK(by.on.device->started_copies() == 2);
  by.on.device->allow_all_work();
  while (auto batch = range.next()) by.record(*batch);
  CHECK(by.record.seen().size() == 10);
  CHECK(in_order_and_intact(by.record.seen()));
  CHECK(by.on.device->captured_calls() == 0);
}

TEST_CASE("captured use: one that ends in a capture of its stream is marked after the capture",
          "[batch][interop][host]") {
  capturing by;
  loader loader = by.load();
  auto range = loader.epoch(0, by.on.stream);
  by.on.device->hold_work();
  {
    auto batch = shared(range.next());
    const auto tensor = to_dlpack(batch, "row", by.further);
    by.record_further(*batch);
    batch.reset();
    by.on.device->begin_capture(by.further);
  }
  by.record(*range.next());  // the loader continues with the other slot
  by.on.device->end_capture(by.further);
  by.record(*range.next());
  by.on.device->wait_for_issued_copies(4);
  CHECK(by.on.device->started_copies() == 2);
  by.on.device->allow_all_work();
  while (auto batch = range.next()) by.record(*batch);
  auto seen = by.record_further.seen();
  const auto others = by.record.seen();
  seen.insert(seen.end(), others.begin(), others.end());
  CHECK(seen.size() == 10);
  CHECK(in_order_and_intact(seen));
  CHECK(by.on.device->captured_calls() == 0);
}

TEST_CASE(
    "captured use: a consumer that lost every slot in captures of further streams gets an error",
    "[batch][interop][host]") {
  capturing by;
  loader loader = by.load();
  auto range = loader.epoch(0, by.on.stream);
  {
    const stream_use first{shared(range.next()), by.further};
    const stream_use second{shared(range.next()), by.further};
    by.on.device->begin_capture(by.further);
  }
  CHECK(message_of<usage_error>([&] { (void)range.next(); })
            .starts_with("all 2 slots are held by batches that were destroyed while their stream "
                         "was being captured: end the capture"));
  by.on.device->end_capture(by.further);
  int left = 0;
  while (range.next()) ++left;
  CHECK(left == 8);
  CHECK(by.on.device->captured_calls() == 0);
}

TEST_CASE("captured use: a loader that is destroyed in a capture frees its memory after it",
          "[batch][interop][host]") {
  capturing by;
  {
    loader loader = by.load();
    auto range = loader.epoch(0, by.on.stream);
    const stream_use use{shared(range.next()), by.further};
    by.on.device->begin_capture(by.further);
  }
  CHECK(by.on.device->allocated_bytes(memory_kind::device) != 0);
  by.on.device->end_capture(by.further);
  detail::poll_until([&] {
    detail::free_deferred();  // the next loader does this
    return by.on.device->allocated_bytes(memory_kind::device) == 0;
  });
  CHECK(by.on.device->captured_calls() == 0);
  CHECK(by.on.device->freed_in_use() == 0);
}
