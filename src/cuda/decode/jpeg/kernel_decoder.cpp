#include "cuda/decode/jpeg/kernel_decoder.hpp"

#include "cuda/decode/jpeg/kernels.hpp"

namespace feedline::detail {

void jpeg_kernel_decoder::decode(std::span<jpeg_image> images, const image_row& row,
                                 std::uint32_t* bad, cudaStream_t stream) {
  auto* const table = reinterpret_cast<jpeg_image*>(memory_.data());
  while (!images.empty()) {
    const std::size_t count = place_jpeg_batch(jpeg_way::kernels, images, memory_.size());
    issue_table(images.first(count), table, stream);
    const jpeg_batch batch{.images = table,
                           .count = static_cast<std::uint32_t>(count),
                           .allow_damaged = row.allow_damaged,
                           .memory = memory_.data(),
                           .bad = bad};
    issue_scans(batch, stream);
    issue_samples(batch, stream);
    issue_pixels(batch, stream);
    issue_resizes(images.first(count), row, reinterpret_cast<const std::uint8_t*>(memory_.data()),
                  stream);
    images = images.subspan(count);
  }
}

}  // namespace feedline::detail
