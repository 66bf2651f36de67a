/// Steps that are captured into CUDA graphs, one for each address of a batch, and launched again.

#include <feedline/cuda/device.hpp>
#include <feedline/cuda/graphs/step_graphs.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "cuda/check.hpp"
#include "gpu/gate.hpp"
#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batch_size = 32;
constexpr std::size_t row_bytes = 1000;

loader_options few_slots() {
  return {
      .batch_size = batch_size, .readers = 2, .expert = {.batches_per_slot = 2, .device_slots = 3}};
}

/// A step: moves what the batch holds to memory of its own, where the next step finds it. After
/// each step, the content of that memory goes to the host.
class moving_step {
 public:
  explicit moving_step(cudaStream_t stream) : stream_{stream} {
    FEEDLINE_CUDA_CHECK(cudaMalloc(&memory_, ids_bytes + batch_size * row_bytes));
    FEEDLINE_CUDA_CHECK(cudaHostAlloc(&seen_, most * stride, cudaHostAllocDefault));
  }
  moving_step(const moving_step&) = delete;
  moving_step& operator=(const moving_step&) = delete;
  ~moving_step() {
    FEEDLINE_CUDA_LOG(cudaFree(memory_));
    FEEDLINE_CUDA_LOG(cudaFreeHost(seen_));
  }

  void issue(const batch& of) {
    ++issued_;
    const auto ids = of["id"].bytes();
    const auto rows = of["row"].bytes();
    FEEDLINE_CUDA_CHECK(
        cudaMemcpyAsync(memory_, ids.data(), ids.size(), cudaMemcpyDeviceToDevice, stream_));
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(bytes(memory_) + ids_bytes, rows.data(), rows.size(),
                                        cudaMemcpyDeviceToDevice, stream_));
  }
  void keep(const batch& of) {
    REQUIRE(kept_.size() < most);
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(bytes(seen_) + kept_.size() * stride, memory_, stride,
                                        cudaMemcpyDeviceToHost, stream_));
    kept_.push_back({of.epoch(), of.index(), of.size()});
  }
  [[nodiscard]] std::uint64_t issued() const { return issued_; }
  [[nodiscard]] std::vector<seen_batch> seen() {
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream_));
    std::vector<seen_batch> all;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const std::byte* const at = bytes(seen_) + i * stride;
      std::vector<std::uint64_t> ids(kept_[i].samples);
      std::memcpy(ids.data(), at, ids.size() * sizeof(std::uint64_t));
      all.push_back(look_at(kept_[i].epoch, kept_[i].index, ids,
                            {at + ids_bytes, kept_[i].samples * row_bytes}));
    }
    return all;
  }

 private:
  static constexpr std::size_t ids_bytes = batch_size * sizeof(std::uint64_t);
  static constexpr std::size_t stride = ids_bytes + batch_size * row_bytes;
  static constexpr std::size_t most = 200;
  struct kept {
    std::uint64_t epoch, index, samples;
  };
  static std::byte* bytes(void* memory) { return static_cast<std::byte*>(memory); }

  cudaStream_t stream_;
  void* memory_ = nullptr;
  void* seen_ = nullptr;
  std::uint64_t issued_ = 0;
  std::vector<kept> kept_;
};

}  // namespace

TEST_CASE("step graphs: every batch is stepped on, though few steps are issued", "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const bool slow = GENERATE(false, true);
  CAPTURE(slow);
  const gpu_stream stream;
  gpu_gate gate;
  moving_step step{stream.get()};
  loader loader{make_identity_dataset(40 * batch_size + 5, row_bytes), shuffle{.seed = 3},
                make_cuda_device(0), few_slots()};
  step_graphs graphs{stream.ref()};
  std::vector<std::uint64_t> order;
  if (slow) gate.hold(stream.get());  // the GPU lags by as many batches as there is room
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (const batch& each : loader.epoch(epoch, stream.ref())) {
      graphs.run(each, [&] { step.issue(each); });
      step.keep(each);
      for (const sample_index sample : each.samples()) order.push_back(sample.value);
      if (slow && epoch == 0 && each.index() == 3) gate.open();
    }
  }
  const auto seen = step.seen();
  REQUIRE(seen.size() == 3 * 41);
  std::vector<std::uint64_t> found;
  for (const seen_batch& each : seen) {
    CHECK(each.intact);
    found.insert(found.end(), each.samples.begin(), each.samples.end());
  }
  CHECK(found == order);
  // Six addresses, and one for the last batch in each slot that it comes in; the first is not
  // captured.
  CHECK(graphs.size() >= 6);
  CHECK(graphs.size() <= 9);
  CHECK(step.issued() == graphs.size() + 1);
  graphs.clear();
  CHECK(graphs.size() == 0);
}

TEST_CASE("step graphs: a step that throws or cannot be captured leaves the stream as it was",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const gpu_stream stream;
  moving_step step{stream.get()};
  loader loader{make_identity_dataset(8 * batch_size, row_bytes), sequential{}, make_cuda_device(0),
                few_slots()};
  step_graphs graphs{stream.ref()};
  for (const batch& each : loader.epoch(0, stream.ref())) {
    const std::size_t before = graphs.size();
    if (each.index() == 1)
      CHECK(message_of<std::runtime_error>([&] {
              graphs.run(each, [&] {
                step.issue(each);
                throw std::runtime_error{"out of adaptive_spin"};
              });
            }) == "out of adaptive_spin");
    if (each.index() == 2) {
      const std::string words = message_of<cuda_error>([&] {
        graphs.run(each, [&] {
          step.issue(each);
          (void)cudaStreamSynchronize(stream.get());
          (void)cudaGetLastError();
        });
      });
      CHECK(words.find("a step cannot be captured into a CUDA graph (") == 0);
    }
    CHECK(graphs.size() == before);
    graphs.run(each, [&] { step.issue(each); });
    step.keep(each);
  }
  const auto seen = step.seen();
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("step graphs: a stream that cannot be captured, or is not the batch's, is refused",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK_THROWS_AS(step_graphs{stream_ref{cudaStreamLegacy}}, usage_error);
  CHECK_THROWS_AS(step_graphs{stream_ref{}}, usage_error);
  const gpu_stream stream;
  const gpu_stream other;
  loader loader{make_identity_dataset(4 * batch_size, row_bytes), sequential{}, make_cuda_device(0),
                few_slots()};
  auto range = loader.epoch(0, stream.ref());
  auto first = range.next();
  REQUIRE(first);
  step_graphs elsewhere{other.ref()};
  CHECK_THROWS_AS(elsewhere.run(*first, [] {}), usage_error);
  step_graphs graphs{stream.ref()};
  graphs.run(*first, [] {});
  FEEDLINE_CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  CHECK_THROWS_AS(graphs.run(*first, [] {}), usage_error);
  step_graphs cold{stream.ref()};
  CHECK_THROWS_AS(cold.run(*first, [] {}), usage_error);
  cudaGraph_t graph = nullptr;
  FEEDLINE_CUDA_CHECK(cudaStreamEndCapture(stream.get(), &graph));
  FEEDLINE_CUDA_CHECK(cudaGraphDestroy(graph));
  const batch taken = std::move(*first);
  CHECK_THROWS_AS(graphs.run(*first, [] {}), usage_error);
}
