#pragma once

#include <feedline/batch/batch.hpp>

#include "cuda/check.hpp"
#include "support/checks/recorder.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace feedline::test {

/// Frees pinned memory.
struct free_pinned {
  void operator()(std::byte* memory) const noexcept { FEEDLINE_CUDA_LOG(cudaFreeHost(memory)); }
};

/// Writes down what batches of identity data hold, as a consumer on the GPU sees it: work on the
/// consumer's stream copies each batch back, and is looked at once the stream is done.
class gpu_recorder {
 public:
  explicit gpu_recorder(cudaStream_t stream) : stream_{stream} {}

  /// Issues the copies back; the batch may be destroyed right after.
  void operator()(const batch& batch) {
    taken_.push_back({batch.epoch(), batch.index(), batch.size(), copy_back(batch["id"]),
                      batch["row"].bytes().size(), copy_back(batch["row"])});
  }

  /// Waits for the stream; all that was seen.
  [[nodiscard]] std::vector<seen_batch> seen() {
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream_));
    std::vector<seen_batch> all;
    for (const taken& each : taken_) {
      const auto* const ids = reinterpret_cast<const std::uint64_t*>(each.ids.get());
      all.push_back(
          look_at(each.epoch, each.index, {ids, each.samples}, {each.rows.get(), each.row_bytes}));
    }
    return all;
  }

 private:
  using buffer = std::unique_ptr<std::byte, free_pinned>;
  struct taken {
    std::uint64_t epoch;
    std::uint64_t index;
    std::uint64_t samples;
    buffer ids;
    std::size_t row_bytes;
    buffer rows;
  };

  buffer copy_back(const tensor_view& from) {
    const auto bytes = from.bytes();
    void* memory = nullptr;
    FEEDLINE_CUDA_CHECK(cudaHostAlloc(&memory, bytes.size(), cudaHostAllocDefault));
    buffer copy{static_cast<std::byte*>(memory)};
    FEEDLINE_CUDA_CHECK(
        cudaMemcpyAsync(memory, bytes.data(), bytes.size(), cudaMemcpyDeviceToHost, stream_));
    return copy;
  }

  cudaStream_t stream_;
  std::vector<taken> taken_;
};

}  // namespace feedline::test
