/// Tensors of batches on a GPU: kept past their batch, on other streams than the batch's, and
/// across threads, while the consumer's work is held open. What they held then is compared on the
/// GPU. As in gpu/cuda_edge_test.cpp, the proof is put to the test: by libtorch's own
/// record_stream, which does nothing for such memory.

#include <feedline/cuda/device.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "gpu/gate.hpp"
#include "gpu/held_device.hpp"
#include "torch/support.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

using namespace feedline;
using namespace feedline::test;
using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;
using libtorch::batch_tensors;

#define FEEDLINE_NEEDS_GPU() \
  if (cuda_device_count() == 0 || !torch::cuda::is_available()) FEEDLINE_SKIP("no GPU")

namespace {

constexpr std::uint64_t batch_size = 64;
constexpr std::int64_t width = 512;

/// Row i is i × width, i × width + 1, …
dataset_ptr numbered_rows(std::uint64_t batches) {
  std::vector<std::int64_t> values(batches * batch_size * width);
  std::iota(values.begin(), values.end(), std::int64_t{0});
  return make_memory_dataset({own("row", std::move(values), {width})});
}

loader make_loader(device_ptr device, std::uint64_t batches) {
  return {numbered_rows(batches),
          sequential{},
          std::move(device),
          {.batch_size = batch_size,
           .readers = 2,
           .placement = placement::stream,
           .expert = {.batches_per_slot = 1, .staging_slots = 4, .device_slots = 2}}};
}

CUDAStream new_stream() {
  return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0);
}
stream_ref ref(CUDAStream stream) {
  return libtorch::stream_of(stream);
}

/// Counts elements that are not a batch's, on the current stream.
class checker {
 public:
  checker() : wrong_{torch::zeros({}, torch::TensorOptions{torch::kCUDA}.dtype(torch::kInt64))} {
    const auto rows = static_cast<std::int64_t>(batch_size);
    (*this)(torch::zeros({rows, width}, wrong_.options()), 0);  // loads the kernels
    (void)wrong_.item();
    wrong_.zero_();
    c10::cuda::getCurrentCUDAStream(0).synchronize();
  }

  /// Issues the comparison with batch number `index`.
  void operator()(const torch::Tensor& rows, std::uint64_t index) {
    const auto first = static_cast<std::int64_t>(index * batch_size) * width;
    const auto right = torch::arange(first, first + rows.numel(), wrong_.options());
    wrong_ += rows.reshape(-1).ne(right).sum();
  }

  /// Waits for the current stream.
  [[nodiscard]] std::int64_t wrong() const { return wrong_.item<std::int64_t>(); }

 private:
  torch::Tensor wrong_;
};

enum class told { by_feedline, by_libtorch };

/// Reads two batches on a second stream that is held open, releases their tensors, and allows
/// copies to overwrite the slots as far as they may.
std::int64_t read_on_another_stream(told record) {
  const CUDAStream consumers = new_stream();
  const CUDAStream beside = new_stream();
  const auto counted = std::make_shared<counted_device>(make_cuda_device(0));
  loader loader = make_loader(counted, 6);
  const CUDAStreamGuard on_consumers{consumers};
  std::optional<checker> check;
  {
    const CUDAStreamGuard on_it{beside};
    check.emplace();
  }
  gpu_gate gate;
  auto range = loader.epoch(0, ref(consumers));
  gate.hold(beside.stream());
  for (std::uint64_t index = 0; index < 2; ++index) {
    const batch_tensors fields{std::move(*range.next())};
    const torch::Tensor rows = fields["row"];
    if (record == told::by_feedline) {
      libtorch::record_stream(rows, beside);
    } else {
      rows.record_stream(beside);
    }
    const CUDAStreamGuard on_it{beside};
    (*check)(rows, index);
  }
  counted->wait_for_copies(4);
  if (record == told::by_feedline) {
    CHECK(cudaStreamQuery(counted->copy_stream()) == cudaErrorNotReady);
    (void)cudaGetLastError();
  } else {
    CHECK(cudaStreamSynchronize(counted->copy_stream()) == cudaSuccess);
  }
  CHECK(consumers.query());  // it waits for no work
  gate.open();
  const CUDAStreamGuard on_it{beside};
  return check->wrong();
}

}  // namespace

TEST_CASE("torch: a tensor on the GPU is a view of the batch, in libtorch's words",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  loader loader = make_loader(make_cuda_device(0), 1);
  const torch::Device gpu{torch::kCUDA, 0};
  CHECK(libtorch::current_stream(gpu) == stream_ref{cudaStreamLegacy});
  CHECK(libtorch::current_stream(torch::kCUDA) == stream_ref{cudaStreamLegacy});
  CHECK_THROWS_AS(ref(c10::cuda::getStreamFromExternal(cudaStreamPerThread, 0)), usage_error);
  auto range = loader.epoch(0, libtorch::current_stream(gpu));
  auto batch = range.next();
  const void* const memory = (*batch)["row"].bytes().data();
  const batch_tensors fields{std::move(*batch)};
  const torch::Tensor rows = fields["row"];
  CHECK(rows.device() == gpu);
  CHECK(rows.const_data_ptr() == memory);
  checker check;
  check(rows, 0);
  CHECK(check.wrong() == 0);
  check(rows, 1);
  CHECK(check.wrong() == rows.numel());
}

TEST_CASE("torch: a tensor on the GPU is not overwritten before a slow consumer has read it",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const CUDAStream consumers = new_stream();
  const CUDAStreamGuard on_consumers{consumers};
  const auto counted = std::make_shared<counted_device>(make_cuda_device(0));
  loader loader = make_loader(counted, 8);
  checker check;
  gpu_gate gate;
  std::uint64_t taken = 0;
  for (batch& batch : loader.epoch(0, libtorch::current_stream(torch::kCUDA))) {
    const batch_tensors fields{std::move(batch)};
    if (taken == 0) gate.hold(consumers.stream());
    check(fields["row"].slice(1, 0, width), taken);
    if (++taken == 2) {
      counted->wait_for_copies(2);
      CHECK(!consumers.query());
    }
    if (taken == 3) gate.open();  // the third was delivered while the gate was closed
  }
  CHECK(taken == 8);
  CHECK(check.wrong() == 0);
}

TEST_CASE("torch: a tensor that is asked for on another stream waits for the batch, and keeps it",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const CUDAStream consumers = new_stream();
  const CUDAStream beside = new_stream();
  gpu_gate gate;
  const auto held = std::make_shared<held_device>(make_cuda_device(0), gate);
  loader loader = make_loader(held, 2);
  const CUDAStreamGuard on_it{beside};
  checker check;
  auto range = loader.epoch(0, ref(consumers));
  {
    const batch_tensors fields{std::move(*range.next())};  // its copy is held open
    check(fields["row"], 0);
  }
  CHECK(!beside.query());
  gate.open();
  CHECK(check.wrong() == 0);
}

TEST_CASE("torch: a tensor is kept for a stream that it was recorded on", "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(read_on_another_stream(told::by_feedline) == 0);
}

TEST_CASE("torch mutant: libtorch's own record_stream does not keep a batch, which is caught",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(read_on_another_stream(told::by_libtorch) != 0);
}

TEST_CASE("torch: tensors go to threads with streams of their own, which free them",
          "[batch][gpu]") {
  FEEDLINE_NEEDS_GPU();
  constexpr std::uint64_t batches = 60;
  struct user {
    CUDAStream stream = new_stream();
    std::optional<checker> check;
  };
  const CUDAStream consumers = new_stream();
  std::array<user, 2> users;
  for (user& each : users) {
    const CUDAStreamGuard on_its{each.stream};
    each.check.emplace();
  }
  loader loader = make_loader(make_cuda_device(0), batches);
  auto range = loader.epoch(0, ref(consumers));
  for (std::uint64_t round = 0; round < batches / users.size(); ++round) {
    // Made and freed here: either waits for the whole device, so for the other thread's gate.
    std::array<gpu_gate, 2> slow;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < users.size(); ++i)
      threads.emplace_back([&of = users[i], &gate = slow[i],
                            fields = batch_tensors{std::move(*range.next())}]() mutable {
        const CUDAStreamGuard on_mine{of.stream};
        gate.hold(of.stream.stream());
        const std::uint64_t index = fields.batch().index();
        (*of.check)(fields["row"], index);
        { const batch_tensors ended = std::move(fields); }
        gate.open();
      });
    for (std::thread& each : threads) each.join();
  }
  CHECK(!range.next());
  for (const user& each : users) CHECK(each.check->wrong() == 0);
}
