#pragma once

#include <feedline/device/block_decoder.hpp>

#include "cuda/context.hpp"
#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/program.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>

namespace feedline::detail {

/// Decodes the images among a call's loads. One thread's.
class image_stage {
 public:
  virtual ~image_stage() = default;

  /// Issues on `stream` the decoding of all images; its GPU is current. Kernels of ours hold up
  /// nobody. By engines it blocks until the files are there and their headers are looked at,
  /// because nvJPEG must be given none that lies, and then about as long as nvJPEG decodes; damage
  /// in scans is looked for meanwhile.
  /// @param frame Its loads were begun on `stream`.
  /// @throws cuda_error.
  virtual void decode(const decode_frame& frame, std::span<const decode_program> programs,
                      std::span<const block_load> loads, cudaStream_t stream) = 0;
};

/// Made while its GPU is current.
/// @param memory Device memory: `jpeg_memory_bytes`.
/// @throws device_error if there is nothing to decode them with; cuda_error.
[[nodiscard]] std::unique_ptr<image_stage> make_image_stage(
    jpeg_way way, const std::shared_ptr<cuda_context>& context, std::span<std::byte> memory);

}  // namespace feedline::detail
