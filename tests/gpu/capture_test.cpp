/// Consumers that capture CUDA graphs while a loader runs. A capture in the global mode, which is
/// the default, is lost when any thread makes a call that CUDA takes for unsafe meanwhile.

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/interop/dlpack.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "gpu/gate.hpp"
#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "gpu/held_device.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/wrapped_device.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

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

dataset_ptr eight_batches() {
  return make_identity_dataset(8 * batch_size, row_bytes);
}

/// A stream that is captured in the global mode, from now on, with one node of the user's.
class capture {
 public:
  explicit capture(cudaStream_t stream) : stream_{stream} {
    FEEDLINE_CUDA_CHECK(cudaMalloc(&memory_, bytes));
    FEEDLINE_CUDA_CHECK(cudaDeviceSynchronize());
  }
  capture(const capture&) = delete;
  capture& operator=(const capture&) = delete;
  ~capture() {
    if (graph_ != nullptr) FEEDLINE_CUDA_LOG(cudaGraphDestroy(graph_));
    FEEDLINE_CUDA_LOG(cudaFree(memory_));
  }

  void begin() {
    FEEDLINE_CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    FEEDLINE_CUDA_CHECK(cudaMemsetAsync(memory_, 7, bytes, stream_));
  }
  /// Ends it; the nodes of the graph, none if the capture was lost.
  [[nodiscard]] std::size_t end() {
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph_);
    CHECK(ended == cudaSuccess);
    (void)cudaGetLastError();
    if (graph_ == nullptr) return 0;
    std::size_t nodes = 0;
    FEEDLINE_CUDA_CHECK(cudaGraphGetNodes(graph_, nullptr, &nodes));
    return nodes;
  }

 private:
  static constexpr std::size_t bytes = 1024;

  cudaStream_t stream_;
  void* memory_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

/// Counts how often it is asked after an event.
class asked_device final : public wrapped_device {
 public:
  using wrapped_device::wrapped_device;

  [[nodiscard]] bool is_done(event_handle event) override {
    const bool done = wrapped_device::is_done(event);
    ++answers_;
    return done;
  }
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }

 private:
  std::atomic<std::uint64_t> answers_{0};
};

}  // namespace

TEST_CASE("cuda capture: it is whole though readers ask after their copies meanwhile",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  const gpu_stream captured;
  gpu_gate gate;
  capture graph{captured.get()};
  const auto held = std::make_shared<held_device>(make_cuda_device(0), gate);
  const auto device = std::make_shared<asked_device>(held);
  gpu_recorder record{consumer.get()};
  loader loader{eight_batches(), sequential{}, device, one_batch_slots(1)};
  auto range = loader.epoch(0, consumer.ref());
  held->wait_for_copies(2);  // the reader waits for the first of them from now on

  graph.begin();
  const std::uint64_t before = device->answers();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  detail::poll_until([&] {
    return device->answers() >= before + 20 || std::chrono::steady_clock::now() >= until;
  });
  CHECK(device->answers() >= before + 20);
  CHECK(graph.end() == 1);

  gate.open();
  while (auto batch = range.next()) record(*batch);
  const auto seen = record.seen();
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("cuda capture: it is whole though batches are taken on another stream meanwhile",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  const gpu_stream consumer;
  const gpu_stream captured;
  capture graph{captured.get()};
  gpu_recorder record{consumer.get()};
  loader loader{eight_batches(), sequential{}, make_cuda_device(0), one_batch_slots(readers)};
  auto range = loader.epoch(0, consumer.ref());
  graph.begin();
  for (int i = 0; i < 4; ++i) CHECK(range.next());  // and destroyed
  auto fifth = range.next();
  CHECK(graph.end() == 1);
  REQUIRE(fifth);
  record(*fifth);
  fifth.reset();
  while (auto batch = range.next()) record(*batch);
  const auto seen = record.seen();
  REQUIRE(seen.size() == 4);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].index == 4 + i);
    CHECK(seen[i].intact);
    CHECK(seen[i].samples.front() == (4 + i) * batch_size);
  }
}

TEST_CASE(
    "cuda capture: a batch is not taken on the stream that is captured, and is there after it",
    "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  const gpu_stream consumer;
  capture graph{consumer.get()};
  gpu_recorder record{consumer.get()};
  loader loader{eight_batches(), sequential{}, make_cuda_device(0), one_batch_slots(readers)};
  auto range = loader.epoch(0, consumer.ref());
  {
    auto batch = range.next();
    REQUIRE(batch);
    record(*batch);
  }
  graph.begin();
  CHECK_THROWS_AS((void)range.next(), usage_error);
  CHECK(graph.end() == 1);
  while (auto batch = range.next()) record(*batch);
  const auto seen = record.seen();
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE(
    "cuda capture: a batch that ends in one is recycled after it, and after the work before it",
    "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  gpu_gate gate;
  capture graph{consumer.get()};
  const auto counted = std::make_shared<counted_device>(make_cuda_device(0));
  gpu_recorder record{consumer.get()};
  loader loader{eight_batches(), sequential{}, counted, one_batch_slots(2)};
  auto range = loader.epoch(0, consumer.ref());
  {
    auto first = range.next();
    REQUIRE(first);
    gate.hold(consumer.get());
    record(*first);  // waits for the gate
    graph.begin();
  }
  CHECK(graph.end() == 1);
  {
    auto second = range.next();
    REQUIRE(second);
    record(*second);
  }
  counted->wait_for_copies(4);
  CHECK(cudaStreamQuery(counted->copy_stream()) == cudaErrorNotReady);
  (void)cudaGetLastError();
  gate.open();
  while (auto batch = range.next()) record(*batch);
  const auto seen = record.seen();
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("cuda capture: a capture of a stream that the legacy stream waits for leaves both alone",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  cudaStream_t blocking = nullptr;
  FEEDLINE_CUDA_CHECK(cudaStreamCreate(&blocking));
  {
    capture graph{blocking};
    gpu_recorder record{cudaStreamLegacy};
    loader loader{eight_batches(), sequential{}, make_cuda_device(0), one_batch_slots(2)};
    auto range = loader.epoch(0, stream_ref{cudaStreamLegacy});
    auto first = range.next();
    REQUIRE(first);
    record(*first);
    graph.begin();
    first.reset();
    CHECK_THROWS_AS((void)range.next(), usage_error);
    CHECK(graph.end() == 1);
    CHECK(cudaGetLastError() == cudaSuccess);
    while (auto batch = range.next()) record(*batch);
    const auto seen = record.seen();
    CHECK(seen.size() == 8);
    CHECK(in_order_and_intact(seen));
  }
  FEEDLINE_CUDA_LOG(cudaStreamDestroy(blocking));
}

TEST_CASE("cuda capture: a tensor is not made for a captured stream, and may be freed during one",
          "[interop][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream consumer;
  const gpu_stream further;
  capture graph{further.get()};
  gpu_recorder record{consumer.get()};
  loader loader{eight_batches(), sequential{}, make_cuda_device(0), one_batch_slots(2)};
  feedline::loader other{eight_batches(), sequential{}, make_cuda_device(0), one_batch_slots(2)};
  auto range = loader.epoch(0, consumer.ref());
  {
    const auto batch = std::make_shared<const feedline::batch>(std::move(*range.next()));
    record(*batch);
    const auto tensor = to_dlpack(batch, "row", further.ref());
    graph.begin();
    CHECK_THROWS_AS((void)to_dlpack(batch, "id", further.ref()), usage_error);
    CHECK_THROWS_AS((void)other.epoch(0, further.ref()), usage_error);
  }
  auto second = range.next();
  REQUIRE(second);
  CHECK(graph.end() == 1);
  record(*second);
  second.reset();
  while (auto batch = range.next()) record(*batch);
  const auto seen = record.seen();
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}
