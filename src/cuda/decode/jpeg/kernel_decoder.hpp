#pragma once

#include "cuda/decode/jpeg/batch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Decodes JPEG files to rows by kernels of ours, in batches that share the memory for what is
/// between file and row: to the bit as the CPU's decoder does at full size.
///
/// Used while its GPU is current. One thread's.
class jpeg_kernel_decoder {
 public:
  /// @param memory Device memory: `jpeg_memory_bytes`.
  explicit jpeg_kernel_decoder(std::span<std::byte> memory) noexcept : memory_{memory} {}

  /// Issues the decoding of images of one field on `stream`, and what looks for damage in them.
  /// Blocks nobody.
  /// @param images Each passes `is_jpeg_decoded`.
  /// @param bad    Device memory: the words of loads whose files are not as their loads say are
  ///               set, and of damaged ones unless the row allows damage.
  /// @throws cuda_error.
  void decode(std::span<jpeg_image> images, const image_row& row, std::uint32_t* bad,
              cudaStream_t stream);

 private:
  std::span<std::byte> memory_;
};

}  // namespace feedline::detail
