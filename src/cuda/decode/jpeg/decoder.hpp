#pragma once

#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/jpeg/nvjpeg.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Decodes JPEG files on the GPU to rows, by batches that share the memory for their pixels. Made
/// and used while its GPU is current. One thread's.
class jpeg_decoder {
 public:
  /// @param pixels Device memory: `jpeg_pixel_bytes`.
  /// @throws device_error if the engines cannot be used.
  explicit jpeg_decoder(std::span<std::byte> pixels);

  /// Issues the decoding of images of one field on `stream`. Blocks about as long as that takes.
  /// @param images Each passes `is_jpeg_decoded`, and its extents are those that its file says:
  ///               nvJPEG writes as many pixels as the file says.
  /// @param bad    Device memory: the words of loads whose files nvJPEG does not take are set.
  /// @throws cuda_error.
  void decode(std::span<jpeg_image> images, const image_row& row, std::uint32_t* bad,
              cudaStream_t stream);

 private:
  /// Decodes what can be decoded of a batch: its halves, if it is refused.
  void decode_batch(std::span<const jpeg_image> images, std::uint32_t* bad, cudaStream_t stream);

  std::span<std::byte> pixels_;
  jpeg_engines engines_;
};

}  // namespace feedline::detail
