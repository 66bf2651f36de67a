/// Batches as DLPack tensors and mdspans on a GPU: kernels check what they hold, under slow
/// consumers, on other streams, and freed by other threads.

#include <feedline/cuda/device.hpp>
#include <feedline/interop/dlpack.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "gpu/checksums.hpp"
#include "gpu/gate.hpp"
#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "gpu/held_device.hpp"
#include "interop/dlpack_abi.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batch_size = 64;
constexpr std::uint64_t batches = 16;
constexpr std::size_t row_bytes = 4096;

loader make_loader(device_ptr device, int readers = 2) {
  return {make_identity_dataset(batches * batch_size, row_bytes),
          sequential{},
          std::move(device),
          {.batch_size = batch_size,
           .readers = readers,
           .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}}};
}

std::shared_ptr<const batch> shared(optional_batch taken) {
  REQUIRE(taken);
  return std::make_shared<const batch>(std::move(*taken));
}

const std::vector<std::uint64_t> none;

}  // namespace

TEST_CASE("cuda interop: kernels read and write a batch through mdspans", "[interop][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  checksum_recorder before{batches * batch_size, row_bytes};
  checksum_recorder after{batches * batch_size, row_bytes};
  loader loader = make_loader(make_cuda_device(0));
  for (batch& batch : loader.epoch(0, consumer.ref())) {
    before(batch, batch_size, consumer.get());
    issue_inversion(batch["row"], consumer.get());
    after(batch, batch_size, consumer.get());
  }
  CHECK(before.wrong() == none);
  CHECK(after.wrong().size() == batches * batch_size);
}

TEST_CASE("cuda interop: a tensor lies where the batch does, and is kept past loader and epoch",
          "[interop][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  checksum_recorder record{batch_size, row_bytes};
  std::optional<dlpack_tensor> kept;
  std::shared_ptr<const batch> batch;
  {
    loader loader = make_loader(make_cuda_device(0));
    auto range = loader.epoch(0, consumer.ref());
    batch = shared(range.next());
    kept = to_dlpack(batch, "row");
    while (range.next()) {
    }
  }
  const auto& tensor =
      reinterpret_cast<const detail::dlpack::versioned_tensor*>(kept->get())->tensor;
  CHECK(tensor.device.type == detail::dlpack::cuda);
  CHECK(tensor.device.id == 0);
  cudaPointerAttributes where{};
  FEEDLINE_CUDA_CHECK(cudaPointerGetAttributes(&where, tensor.data));
  CHECK(where.type == cudaMemoryTypeDevice);
  record(*batch, batch_size, consumer.get());
  batch.reset();
  kept.reset();
  CHECK(record.wrong() == none);
}

TEST_CASE("cuda interop: tensors on a slow further stream, freed by another thread, are whole",
          "[interop][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  const gpu_stream further;
  gpu_gate gate;
  checksum_recorder record{batches * batch_size, row_bytes};
  const auto counted = std::make_shared<counted_device>(make_cuda_device(0));
  loader loader = make_loader(counted);
  auto range = loader.epoch(0, consumer.ref());
  gate.hold(further.get());
  for (int i = 0; i < 2; ++i) {
    auto batch = shared(range.next());
    auto row = to_dlpack(batch, "row", further.ref());
    record(*batch, batch_size, further.get());
    batch.reset();
    std::thread{[freed = std::move(row)]() mutable { freed.reset(); }}.join();
  }
  counted->wait_for_copies(4);  // issued after the kernels that the gate holds
  CHECK(cudaStreamQuery(counted->copy_stream()) == cudaErrorNotReady);
  (void)cudaGetLastError();
  CHECK(cudaStreamQuery(consumer.get()) == cudaSuccess);  // it does not wait for the other one
  gate.open();
  while (auto taken = range.next()) {
    auto batch = shared(std::move(taken));
    auto row = to_dlpack(batch, "row", further.ref());
    record(*batch, batch_size, further.get());
  }
  CHECK(record.wrong() == none);
}

TEST_CASE("cuda interop: a further stream waits for the copy, and for the batch's own stream",
          "[interop][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  const gpu_stream further;
  gpu_gate copies;
  checksum_recorder before{batches * batch_size, row_bytes};
  checksum_recorder after{batches * batch_size, row_bytes};
  loader loader = make_loader(std::make_shared<held_device>(make_cuda_device(0), copies));
  auto range = loader.epoch(0, consumer.ref());
  auto batch = shared(range.next());
  before(*batch, batch_size, consumer.get());
  const auto tensor = to_dlpack(batch, "row", further.ref());
  issue_inversion((*batch)["row"], further.get());
  CHECK(cudaStreamQuery(further.get()) == cudaErrorNotReady);
  (void)cudaGetLastError();
  copies.open();
  after(*batch, batch_size, further.get());
  const auto wrong = before.wrong();
  CHECK((wrong.empty() || wrong.front() >= batch_size));  // the first batch's rows were whole
  CHECK(after.wrong().front() == 0);
}

TEST_CASE("cuda interop: work on a thread's own stream is waited for wherever the batch ends",
          "[interop][batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const bool as_tensor = GENERATE(false, true);
  CAPTURE(as_tensor);
  const gpu_stream other;
  gpu_gate gate;
  checksum_recorder record{batches * batch_size, row_bytes};
  const auto counted = std::make_shared<counted_device>(make_cuda_device(0));
  loader loader = make_loader(counted);
  const stream_ref taken_on = as_tensor ? other.ref() : stream_ref{cudaStreamPerThread};
  auto range = loader.epoch(0, taken_on);
  gate.hold(cudaStreamPerThread);
  for (int i = 0; i < 2; ++i) {
    auto batch = shared(range.next());
    auto row = to_dlpack(batch, "row", stream_ref{cudaStreamPerThread});
    record(*batch, batch_size, cudaStreamPerThread);
    std::thread{[held = std::move(batch), freed = std::move(row)]() mutable {
      freed.reset();
      held.reset();
    }}.join();
  }
  counted->wait_for_copies(4);
  CHECK(cudaStreamQuery(counted->copy_stream()) == cudaErrorNotReady);
  (void)cudaGetLastError();
  gate.open();
  while (auto batch = range.next())
    record(*batch, batch_size, static_cast<cudaStream_t>(taken_on.get()));
  CHECK(record.wrong() == none);
}
