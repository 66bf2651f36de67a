// A user's file for nvcc: it includes feedline, and says nothing of C++20.

#include <feedline/feedline.hpp>

#ifdef WITH_CUDA
#include <feedline/cuda/device.hpp>
#endif

#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

__global__ void twice(const std::uint32_t* in, std::uint32_t* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];
}

int main() {
  std::vector<std::uint32_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto dataset = feedline::make_memory_dataset({feedline::own("number", numbers)});
  std::uint64_t sum = 0;
  feedline::loader loader{
      dataset, feedline::sequential{}, feedline::make_host_device(), {.batch_size = 64}};
  for (feedline::batch& batch : loader.epoch(0))
    for (const std::uint32_t number : batch["number"].values<std::uint32_t>()) sum += number;
  std::cout << "sum " << sum << '\n';

#ifdef WITH_CUDA
  if (feedline::cuda_device_count() == 0) return 0;
  std::uint32_t* out = nullptr;
  if (cudaMalloc(&out, 64 * sizeof *out) != cudaSuccess) return 1;
  feedline::loader to_gpu{
      dataset, feedline::sequential{}, feedline::make_cuda_device(0), {.batch_size = 64}};
  for (feedline::batch& batch : to_gpu.epoch(0, feedline::stream_ref{cudaStreamPerThread}))
    twice<<<1, static_cast<unsigned>(batch.size()), 0, cudaStreamPerThread>>>(
        batch["number"].data<std::uint32_t>(), out);
  std::uint32_t first = 0;  // first sample of the last batch, 960 to 999
  if (cudaMemcpy(&first, out, sizeof first, cudaMemcpyDefault) != cudaSuccess) return 1;
  std::cout << "on the GPU " << first << '\n';
  return first == 1920 ? 0 : 1;
#endif
}
