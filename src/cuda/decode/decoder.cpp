#include "cuda/decode/decoder.hpp"

#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/decode/image_decoder.hpp"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/png/kernels.hpp"
#include "cuda/device_memory.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

/// Device memory that its owner frees.
class gpu_memory {
 public:
  gpu_memory(std::shared_ptr<cuda_context> context, std::size_t bytes, const std::string& name)
      : context_{std::move(context)} {
    const cuda_current_device current{*context_};
    data_ = static_cast<std::byte*>(allocate_on_gpu(bytes));
    if (data_ == nullptr)
      throw out_of_memory{bytes, memory_kind::device,
                          name + " has no " + std::to_string(bytes) +
                              " bytes of device memory to decode blocks with"};
  }
  gpu_memory(const gpu_memory&) = delete;
  gpu_memory& operator=(const gpu_memory&) = delete;
  ~gpu_memory() {
    const cuda_current_device current{*context_, std::nothrow};
    FEEDLINE_CUDA_LOG(cudaFree(data_));
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::shared_ptr<cuda_context> context_;
  std::byte* data_ = nullptr;
};

/// Copies to device memory, and waits. It uses its own stream, so that it waits for no other work.
void copy_to_gpu(std::byte* to, std::span<const std::byte> from) {
  cudaStream_t stream = nullptr;
  FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const cudaError_t copied =
      cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream);
  const cudaError_t done = cudaStreamSynchronize(stream);
  FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream));
  FEEDLINE_CUDA_CHECK(copied);
  FEEDLINE_CUDA_CHECK(done);
}

void load_all_kernels(bool images) {
  load_decode_kernels();
  load_zstd_kernels();
  load_lz4_kernels();
  load_blosc_zlib_kernels();
  load_window_kernels();
  load_sparse_kernels();
  if (!images) return;
  load_scan_kernels();
  load_pixel_kernels();
  load_resize_kernels();
  load_png_kernels();
}

class cuda_block_decoder final : public block_decoder {
 public:
  explicit cuda_block_decoder(decoder_parts parts)
      : parts_{std::move(parts)},
        memory_{parts_.context, parts_.layout.bytes, parts_.name},
        images_{{memory_.data() + parts_.layout.pixels, parts_.layout.pixel_bytes}},
        chunks_{parts_.chunks ? std::make_unique<cuda_block_decoder>(std::move(*parts_.chunks))
                              : nullptr} {
    const cuda_current_device current{*parts_.context};
    const decoder_layout& layout = parts_.layout;
    load_all_kernels(layout.pixel_bytes != 0);
    std::byte* const memory = memory_.data();
    copy_to_gpu(memory + layout.programs, std::as_bytes(std::span{parts_.programs}));
    frame_.programs = reinterpret_cast<const decode_program*>(memory + layout.programs);
    frame_.states = parts_.store.states;
    frame_.bad = reinterpret_cast<std::uint32_t*>(memory + layout.bad);
    frame_.said = reinterpret_cast<std::uint32_t*>(memory + layout.said);
    for (std::size_t i = 0; i < 2; ++i) {
      frame_.scratch[i] = memory + layout.scratch[i];
      frame_.scratch_bytes[i] = layout.scratch_bytes[i];
    }
    frame_.fields = static_cast<std::uint32_t>(parts_.programs.size());
    for (const decode_program& each : parts_.programs)
      row_bytes_ = std::max(row_bytes_, each.block_bytes);
  }

  void decode_chunks(const work& arrived, stream_ref stream) override {
    if (chunks_) chunks_->decode_parts_of(arrived, stream);
  }

  void decode(const work& arrived, stream_ref stream) override {
    if (arrived.loads > parts_.store.max_loads)
      throw device_error{parts_.name + " decodes at most " +
                         std::to_string(parts_.store.max_loads) +
                         " blocks at a time, but was given " + std::to_string(arrived.loads)};
    const cuda_current_device current{*parts_.context};
    auto* const native = static_cast<cudaStream_t>(stream.get());
    const std::span loads{reinterpret_cast<const block_load*>(arrived.staged + arrived.loads_at),
                          arrived.loads};
    const decode_plan plan = plan_decoding(parts_.programs, loads);
    frame_.copy_destination = arrived.copy_destination;
    frame_.loads = reinterpret_cast<const block_load*>(arrived.copy_destination + arrived.loads_at);
    frame_.count = arrived.loads;
    issue_begin(frame_, native);
    if (plan.round[0].images > 0) images_.decode(frame_, parts_.programs, loads, native);
    for (std::uint32_t step = 0; step < plan.rounds; ++step) {
      const decode_round& round = plan.round[step];
      if (round.checked > 0) issue_checks(frame_, step, native);
      if (round.moved > 0) issue_moves(frame_, step, round, native);
      if (round.inflated > 0) {
        issue_inflate(frame_, step, native);
        issue_stream_checks(frame_, step, native);
      }
      if (round.zstd > 0) issue_zstd(frame_, step, native);
      if (round.lz4 > 0) issue_lz4(frame_, step, native);
      if (round.zstd_bits > 0) issue_zstd_bits(frame_, step, native);
      if (round.lz4_bits > 0) issue_lz4_bits(frame_, step, native);
      if (round.blosc_zstd > 0) issue_blosc_zstd(frame_, step, native);
      if (round.blosc_lz4 > 0) issue_blosc_lz4(frame_, step, native);
      if (round.blosc_zlib > 0) issue_blosc_zlib(frame_, step, native);
      if (round.windows > 0) issue_cuts(frame_, chunks_->frame_, step, row_bytes_, native);
      if (round.sparse > 0)
        issue_sparse_rows(frame_, chunks_ ? &chunks_->frame_ : nullptr, step, native);
    }
    issue_states(frame_, native);
  }

  void find_bad(const check& samples, stream_ref stream) override {
    const cuda_current_device current{*parts_.context};
    auto* const native = static_cast<cudaStream_t>(stream.get());
    FEEDLINE_CUDA_CHECK(
        cudaMemsetAsync(samples.first_bad, 0xFF, sizeof *samples.first_bad, native));
    issue_find_bad(samples, parts_.store.states, frame_.fields, parts_.store.places,
                   parts_.store.rows, native);
  }

 private:
  /// Decodes the chunks that came with windows, as many at once as there is memory for.
  void decode_parts_of(const work& windows, stream_ref stream) {
    work part = windows;
    part.loads_at = windows.chunk_loads_at;
    for (std::uint32_t left = windows.chunk_loads; left > 0; left -= part.loads) {
      part.loads = std::min(left, parts_.store.max_loads);
      decode(part, stream);
      part.loads_at += part.loads * sizeof(block_load);
    }
  }

  decoder_parts parts_;
  gpu_memory memory_;
  decode_frame frame_;
  image_decoder images_;
  std::unique_ptr<cuda_block_decoder> chunks_;
  std::uint64_t row_bytes_ = 0;  ///< largest row of a field
};

}  // namespace

std::unique_ptr<block_decoder> make_cuda_block_decoder(decoder_parts parts) {
  return std::make_unique<cuda_block_decoder>(std::move(parts));
}

}  // namespace feedline::detail
