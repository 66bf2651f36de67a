#include "cuda/decode/jpeg/decoder.hpp"

#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/decode/jpeg/kernels.hpp"

#include <algorithm>
#include <array>

namespace feedline::detail {

jpeg_decoder::jpeg_decoder(std::span<std::byte> pixels) : pixels_{pixels} {
  if (!engines_.refusal().empty()) throw device_error{engines_.refusal()};
}

void jpeg_decoder::decode(std::span<jpeg_image> images, const image_row& row, std::uint32_t* bad,
                          cudaStream_t stream) {
  while (!images.empty()) {
    const std::size_t count = place_jpeg_batch(images, pixels_.size());
    decode_batch(images.first(count), bad, stream);
    jpeg_batch batch;
    batch.pixels = reinterpret_cast<const std::uint8_t*>(pixels_.data());
    batch.row = row;
    batch.images = static_cast<std::uint32_t>(count);
    std::ranges::copy(images.first(count), batch.image);
    issue_resize(batch, stream);
    images = images.subspan(count);
  }
}

void jpeg_decoder::decode_batch(std::span<const jpeg_image> images, std::uint32_t* bad,
                                cudaStream_t stream) {
  std::array<const unsigned char*, max_jpeg_batch> files{};
  std::array<std::size_t, max_jpeg_batch> bytes{};
  std::array<nvjpeg_image, max_jpeg_batch> decoded{};
  const std::size_t count = images.size();
  for (std::size_t i = 0; i < count; ++i) {
    files[i] = images[i].file;
    bytes[i] = images[i].bytes;
    decoded[i].channel[0] = reinterpret_cast<unsigned char*>(pixels_.data()) + images[i].pixels_at;
    decoded[i].pitch[0] = std::size_t{3} * images[i].extents.width;
  }
  // nvJPEG begins to write into memory of its state, and of the pixels, before kernels that still
  // read what it decoded before have run.
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  if (engines_.decode(std::span{files}.first(count), std::span{bytes}.first(count),
                      std::span{decoded}.first(count), stream))
    return;
  if (count == 1) {
    FEEDLINE_CUDA_CHECK(cudaMemsetAsync(bad + images[0].number, 0xFF, sizeof *bad, stream));
    return;
  }
  decode_batch(images.first(count / 2), bad, stream);
  decode_batch(images.subspan(count / 2), bad, stream);
}

}  // namespace feedline::detail
