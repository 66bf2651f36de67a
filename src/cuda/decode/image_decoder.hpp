#pragma once

#include <feedline/backend/block_decoder.hpp>

#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/program.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Decodes the images among a call's loads to rows: bit for bit like the CPU's decoder at full
/// size. Batches, each of one format, share the memory for intermediate results.
///
/// Use it while its GPU is current, from one thread.
class image_decoder {
 public:
  /// @param memory Device memory of `jpeg_memory_bytes`; empty if no load is an image.
  explicit image_decoder(std::span<std::byte> memory) noexcept : memory_{memory} {}

  /// Issues on `stream` the decoding of all images and the checks for damage. Does not block. Sets
  /// the `bad` words of loads whose files differ from what the load says, and of damaged files
  /// unless their row allows damage.
  /// @param frame Its loads were begun on `stream`.
  /// @throws cuda_error.
  void decode(const decode_frame& frame, std::span<const decode_program> programs,
              std::span<const block_load> loads, cudaStream_t stream);

 private:
  /// Decodes `images_`, which are all of one field and format.
  void decode_images(const image_row& row, std::uint32_t* bad, cudaStream_t stream);

  std::span<std::byte> memory_;
  std::vector<jpeg_image> images_;
};

}  // namespace feedline::detail
