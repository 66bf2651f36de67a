#pragma once

#include <feedline/device/block_decoder.hpp>

#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/program.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Decodes the images among a call's loads to rows: to the bit as the CPU's decoder does at full
/// size. Batches share the memory for what is between file and row.
///
/// Used while its GPU is current. One thread's.
class jpeg_decoder {
 public:
  /// @param memory Device memory: `jpeg_memory_bytes`; empty where no load is an image.
  explicit jpeg_decoder(std::span<std::byte> memory) noexcept : memory_{memory} {}

  /// Issues on `stream` the decoding of all images, and what looks for damage in them. Blocks
  /// nobody. Sets the words of loads whose files are not as their loads say, and of damaged ones
  /// unless their row allows damage.
  /// @param frame Its loads were begun on `stream`.
  /// @throws cuda_error.
  void decode(const decode_frame& frame, std::span<const decode_program> programs,
              std::span<const block_load> loads, cudaStream_t stream);

 private:
  /// Decodes `images_`, which are of one field.
  void decode_field(const image_row& row, std::uint32_t* bad, cudaStream_t stream);

  std::span<std::byte> memory_;
  std::vector<jpeg_image> images_;
};

}  // namespace feedline::detail
