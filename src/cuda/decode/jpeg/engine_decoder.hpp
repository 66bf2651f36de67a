#pragma once

#include "cuda/context.hpp"
#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/jpeg/nvjpeg.hpp"
#include "cuda/side_stream.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace feedline::detail {

/// Decodes JPEG files to rows by the GPU's JPEG engines, in batches that share the memory for their
/// pixels.
///
/// What limits nvJPEG is not the engines, but the thread that calls it, at some 30 µs an image. So
/// two threads share a batch, each with an nvJPEG of its own: the caller's, and one that is started
/// for the call.
///
/// Made and used while its GPU is current. One thread's.
class jpeg_engine_decoder {
 public:
  /// @param pixels Device memory: `jpeg_memory_bytes`.
  /// @throws device_error if the engines cannot be used; cuda_error.
  jpeg_engine_decoder(std::shared_ptr<cuda_context> context, std::span<std::byte> pixels);

  /// Issues the decoding of images of one field on `stream`. Blocks about as long as that takes.
  /// @param images Each passes `is_jpeg_decoded`, and its extents are those that its file says:
  ///               nvJPEG writes as many pixels as the file says.
  /// @param bad    Device memory: the words of loads whose files nvJPEG does not take are set.
  /// @throws cuda_error.
  void decode(std::span<jpeg_image> images, const image_row& row, std::uint32_t* bad,
              cudaStream_t stream);

 private:
  using images_span = std::span<const jpeg_image>;

  /// Decodes a batch by two threads.
  void decode_shared(images_span images, std::uint32_t* bad, cudaStream_t stream);
  /// Decodes what can be decoded of a part: its halves, if it is refused.
  void decode_part(jpeg_engines& engines, images_span images, std::uint32_t* bad,
                   cudaStream_t stream);

  std::shared_ptr<cuda_context> context_;
  std::span<std::byte> pixels_;
  std::array<jpeg_engines, 2> engines_;
  side_stream beside_;  ///< of the second thread
};

}  // namespace feedline::detail
