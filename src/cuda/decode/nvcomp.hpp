#pragma once

#include "cuda/decode/batch.hpp"
#include "cuda/decode/plan.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace feedline::detail {

/// NVIDIA's nvCOMP, which decodes deflate and Zstandard on the GPU. The build needs its headers
/// alone. The library is loaded by the first call of `get`, so that programs start without it.
///
/// Its decoders run on the GPU's processors, not on its decompression engine, whose statuses say
/// nothing of damaged streams. Threads: any.
class nvcomp {
 public:
  [[nodiscard]] static const nvcomp& get();

  /// Why it cannot be used, and what to do; empty if it can.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  /// Temporary device memory for batches of up to `max_loads` entries of either kind. Needs the
  /// current GPU. @throws device_error if nvCOMP refuses.
  [[nodiscard]] std::size_t temporary_bytes(const codec_sizes& sizes, std::size_t max_loads) const;

  /// Issues the decoding of a batch's entries; the step is `inflate` or `decode_zstd`.
  /// @throws device_error if nvCOMP refuses.
  void decode(decode_operation step, const codec_batch& batch, std::uint32_t entries,
              std::byte* temporary, std::size_t temporary_bytes, cudaStream_t stream) const;

 private:
  nvcomp();

  std::string refusal_;
};

}  // namespace feedline::detail
