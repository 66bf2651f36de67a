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
    const auto id = batch["id"];
    const auto row = batch["row"];
    taken each{batch.epoch(),
               batch.index(),
               id,
               row,
               pinned(id.bytes().size()),
               pinned(row.bytes().size())};
    copy_back(each.id_bytes.get(), id);
    copy_back(each.row_bytes.get(), row);
    taken_.push_back(std::move(each));
  }

  /// Waits for the stream; all that was seen.
  [[nodiscard]] std::vector<seen_batch> seen() {
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream_));
    std::vector<seen_batch> all;
    for (const taken& each : taken_) {
      all.push_back(look_at(each.epoch, each.index, on_host(each.id, each.id_spec, each.id_bytes),
                            on_host(each.row, each.row_spec, each.row_bytes)));
    }
    return all;
  }

 private:
  using buffer = std::unique_ptr<std::byte, free_pinned>;
  struct taken {
    std::uint64_t epoch;
    std::uint64_t index;
    tensor_view id;
    tensor_view row;
    buffer id_bytes;
    buffer row_bytes;
    field id_spec{"id", element_type::u64, {}};
    field row_spec{"row", element_type::u8, {}};
  };

  static buffer pinned(std::size_t bytes) {
    void* memory = nullptr;
    FEEDLINE_CUDA_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
    return buffer{static_cast<std::byte*>(memory)};
  }
  void copy_back(std::byte* to, const tensor_view& from) {
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(to, from.bytes().data(), from.bytes().size(),
                                        cudaMemcpyDeviceToHost, stream_));
  }
  static tensor_view on_host(const tensor_view& view, const field& spec, const buffer& bytes) {
    return {spec, view.samples(), view.bytes().size(), bytes.get()};
  }

  cudaStream_t stream_;
  std::vector<taken> taken_;
};

}  // namespace feedline::test
