#pragma once

#include <feedline/device/block_decoder.hpp>

#include "cuda/context.hpp"
#include "cuda/decode/jpeg/decoder.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/program.hpp"
#include "cuda/side_stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// Decodes the images among a call's loads. One thread's.
class image_stage {
 public:
  /// @param pixels Device memory: `jpeg_pixel_bytes`.
  /// @throws device_error if there is nothing to decode them with; cuda_error.
  image_stage(const std::shared_ptr<cuda_context>& context, std::span<std::byte> pixels);

  /// Issues on `stream` the decoding of all images; its GPU is current. Blocks until the files are
  /// there and their headers are looked at, because nvJPEG must be given none that lies, and then
  /// about as long as nvJPEG decodes. Damage in scans is looked for meanwhile.
  /// @param frame Its loads were begun on `stream`.
  /// @throws cuda_error.
  void decode(const decode_frame& frame, std::span<const decode_program> programs,
              std::span<const block_load> loads, cudaStream_t stream);

 private:
  void decode_field(const decode_frame& frame, std::uint32_t field, const decode_program& program,
                    std::span<const block_load> loads, cudaStream_t stream);

  jpeg_decoder decoder_;
  side_stream checks_;
  std::vector<std::uint32_t> bad_;  ///< of loads, once headers are looked at
  std::vector<jpeg_image> images_;
};

}  // namespace feedline::detail
