// The code for device code that docs/guide/interop.md shows.

// [kernel]
#include <feedline/feedline.hpp>
#include <feedline/interop/cuda_mdspan.hpp>

#include <cstdint>

using images_view = cuda::std::mdspan<const std::uint8_t, cuda::std::dextents<int, 3>>;

__global__ void mean_brightness(images_view images, float* out) {
  const int image = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (image >= images.extent(0)) return;
  float sum = 0;
  for (int y = 0; y < images.extent(1); ++y) {
    for (int x = 0; x < images.extent(2); ++x) sum += images(image, y, x);
  }
  out[image] = sum / static_cast<float>(images.extent(1) * images.extent(2));
}

void step(const feedline::batch& batch, float* out, cudaStream_t stream) {
  const auto images = feedline::to_cuda_mdspan<const std::uint8_t, 3, int>(batch["image"]);
  const auto blocks = static_cast<unsigned>((batch.size() + 127) / 128);
  mean_brightness<<<blocks, 128, 0, stream>>>(images, out);
}
// [/kernel]
