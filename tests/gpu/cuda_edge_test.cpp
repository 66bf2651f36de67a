/// The edges of the rings on a real GPU: a copy held open, a consumer's kernel held open. As in
/// pipeline/edge_test.cpp, each proof is put to the test by a device that forgets the event it
/// guards.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "gpu/gate.hpp"
#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "gpu/held_device.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/forgetful_device.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batch_size = 64;
constexpr std::size_t row_bytes = 4096;

loader_options one_batch_slots(int readers) {
  return {.batch_size = batch_size,
          .readers = readers,
          .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
}

/// Holds the consumer's kernel open on the first two slots, while the copies that will overwrite
/// them are issued.
std::vector<seen_batch> consume_with_a_kernel_held(forgotten edge) {
  const gpu_stream consumer;
  gpu_gate gate;
  const auto counted = std::make_shared<counted_device>(make_cuda_device(0));
  const auto device = std::make_shared<forgetful_device>(counted, consumer.ref(), edge);
  gpu_recorder record{consumer.get()};
  loader loader{make_identity_dataset(8 * batch_size, row_bytes), sequential{}, device,
                one_batch_slots(2)};
  auto range = loader.epoch(0, consumer.ref());
  for (int i = 0; i < 2; ++i) {
    auto batch = range.next();
    REQUIRE(batch);
    if (i == 0)
      gate.hold(consumer.get());  // the kernel, held open; what follows is the consumer's reading
    record(*batch);
  }
  counted->wait_for_copies(4);
  if (edge == forgotten::copy_waits_for_consumer) {
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(
        counted->copy_stream()));  // it waits for no work: the slots are overwritten
  } else {
    CHECK(cudaStreamQuery(counted->copy_stream()) ==
          cudaErrorNotReady);  // the third copy waits for the kernel
    (void)cudaGetLastError();
  }
  gate.open();
  while (auto batch = range.next()) record(*batch);
  return record.seen();
}

/// Holds the first two copies open while a reader would like to write their staging slots again.
std::vector<seen_batch> consume_with_copies_held(forgotten edge) {
  const gpu_stream consumer;
  gpu_gate gate;
  const auto held = std::make_shared<held_device>(make_cuda_device(0), gate);
  const auto device = std::make_shared<forgetful_device>(held, consumer.ref(), edge);
  gpu_recorder record{consumer.get()};
  std::promise<void> slots_written_again;
  const auto data = gated(make_identity_dataset(8 * batch_size, row_bytes),
                          [&](std::span<const sample_index> samples) {
                            // One reader: when it comes to batch 3, batch 2 lies where batch 0 did.
                            if (samples.front().value == 3 * batch_size)
                              slots_written_again.set_value();
                          });
  auto options = one_batch_slots(1);
  options.expert.request_bytes = std::size_t{1} << 30;
  loader loader{data, sequential{}, device, options};
  auto range = loader.epoch(0, consumer.ref());
  held->wait_for_copies(2);
  if (edge == forgotten::reader_waits_for_copy) slots_written_again.get_future().wait();
  gate.open();
  while (auto batch = range.next()) record(*batch);
  return record.seen();
}

/// Takes the first batch while its copy is held open, and reads it on the consumer's stream.
std::vector<seen_batch> consume_before_the_copy(forgotten edge) {
  const gpu_stream consumer;
  gpu_gate gate;
  const auto held = std::make_shared<held_device>(make_cuda_device(0), gate);
  const auto device = std::make_shared<forgetful_device>(held, consumer.ref(), edge);
  gpu_recorder record{consumer.get()};
  loader loader{make_identity_dataset(2 * batch_size, row_bytes), sequential{}, device,
                one_batch_slots(1)};
  auto range = loader.epoch(0, consumer.ref());
  auto batch = range.next();  // the host does not wait for the copy
  REQUIRE(batch);
  record(*batch);
  if (edge == forgotten::consumer_waits_for_copy) {
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(consumer.get()));
  } else {
    CHECK(cudaStreamQuery(consumer.get()) == cudaErrorNotReady);
    (void)cudaGetLastError();
  }
  gate.open();
  return record.seen();
}

}  // namespace

TEST_CASE("cuda: a slot is not overwritten while the consumer's kernel is held open",
          "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto seen = consume_with_a_kernel_held(forgotten::nothing);
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("cuda: a staging slot is not written while its copy is held open", "[staging][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto seen = consume_with_copies_held(forgotten::nothing);
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("cuda: a batch is taken while its copy is held open, and read only after it",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(in_order_and_intact(consume_before_the_copy(forgotten::nothing)));
}

TEST_CASE("cuda mutant: a copy that does not wait for the consumer's event is caught",
          "[device][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(!in_order_and_intact(consume_with_a_kernel_held(forgotten::copy_waits_for_consumer)));
}

TEST_CASE("cuda mutant: a reader that does not wait for the copy's event is caught",
          "[staging][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(!in_order_and_intact(consume_with_copies_held(forgotten::reader_waits_for_copy)));
}

TEST_CASE("cuda mutant: a consumer that does not wait for the copy's event is caught",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(!in_order_and_intact(consume_before_the_copy(forgotten::consumer_waits_for_copy)));
}
