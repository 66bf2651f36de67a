#include "cuda_kernels.cuh"
#include "cuda_support.cuh"
#include "network.hpp"

namespace mnist {
namespace {

__device__ std::size_t thread_number() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void add_bias_and_rectify_kernel(float* values, const float* biases, std::size_t rows,
                                            std::size_t count) {
  const std::size_t i = thread_number();
  if (i < count) values[i] = fmaxf(values[i] + biases[i % rows], 0.0F);
}

/// A thread a digit: ten classes do not fill a warp.
__global__ void judge_kernel(const float* logits, const float* biases, const std::uint8_t* labels,
                             float* delta, device_tally* tally, std::size_t columns) {
  const std::size_t column = thread_number();
  if (column >= columns) return;
  const unsigned label = labels[column];
  if (label >= classes) {
    atomicAdd(&tally->bad_labels, 1ULL);
    return;
  }

  float values[classes];
  unsigned answer = 0;
  for (unsigned i = 0; i < classes; ++i) {
    values[i] = logits[column * classes + i] + biases[i];
    if (values[i] > values[answer]) answer = i;
  }
  const float highest = values[answer];
  float sum = 0.0F;
  float of_label = 0.0F;
  for (unsigned i = 0; i < classes; ++i) {
    if (i == label) of_label = values[i] - highest;
    values[i] = expf(values[i] - highest);
    sum += values[i];
  }
  atomicAdd(&tally->loss, static_cast<double>(logf(sum) - of_label));
  if (answer == label) atomicAdd(&tally->correct, 1ULL);

  if (delta == nullptr) return;
  const float scale = 1.0F / static_cast<float>(columns);
  for (unsigned i = 0; i < classes; ++i)
    delta[column * classes + i] = scale * (values[i] / sum - (i == label ? 1.0F : 0.0F));
}

constexpr unsigned tile_rows = 32;
constexpr unsigned tile_stripes = 8;

/// A warp reads 32 neighbouring rows of a column at once; eight warps share the columns.
__global__ void sum_rows_kernel(const float* values, float* sums, std::size_t rows,
                                std::size_t columns) {
  __shared__ float partial[tile_stripes][tile_rows];
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * tile_rows + threadIdx.x;
  float sum = 0.0F;
  if (row < rows)
    for (std::size_t column = threadIdx.y; column < columns; column += tile_stripes)
      sum += values[column * rows + row];
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || row >= rows) return;
  for (unsigned stripe = 1; stripe < tile_stripes; ++stripe) sum += partial[stripe][threadIdx.x];
  sums[row] = sum;
}

__global__ void mask_kernel(float* delta, const float* activations, std::size_t count) {
  const std::size_t i = thread_number();
  if (i < count && activations[i] <= 0.0F) delta[i] = 0.0F;
}

__global__ void descend_kernel(float* parameters, float* velocity, const float* gradient,
                               std::size_t count, float learning_rate) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const float speed = momentum * velocity[i] + gradient[i];
  velocity[i] = speed;
  parameters[i] -= learning_rate * speed;
}

}  // namespace

void add_bias_and_rectify(float* values, const float* biases, std::size_t rows, std::size_t columns,
                          cudaStream_t stream) {
  const std::size_t count = rows * columns;
  add_bias_and_rectify_kernel<<<blocks_for(count), block_threads, 0, stream>>>(values, biases, rows,
                                                                               count);
  FEEDLINE_SAMPLE_CHECK(cudaGetLastError());
}

void judge(const float* logits, const float* biases, const std::uint8_t* labels, float* delta,
           device_tally* tally, std::size_t columns, cudaStream_t stream) {
  judge_kernel<<<blocks_for(columns), block_threads, 0, stream>>>(logits, biases, labels, delta,
                                                                  tally, columns);
  FEEDLINE_SAMPLE_CHECK(cudaGetLastError());
}

void sum_rows(const float* values, float* sums, std::size_t rows, std::size_t columns,
              cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((rows + tile_rows - 1) / tile_rows);
  sum_rows_kernel<<<blocks, dim3{tile_rows, tile_stripes}, 0, stream>>>(values, sums, rows,
                                                                        columns);
  FEEDLINE_SAMPLE_CHECK(cudaGetLastError());
}

void mask(float* delta, const float* activations, std::size_t count, cudaStream_t stream) {
  mask_kernel<<<blocks_for(count), block_threads, 0, stream>>>(delta, activations, count);
  FEEDLINE_SAMPLE_CHECK(cudaGetLastError());
}

void descend(float* parameters, float* velocity, const float* gradient, std::size_t count,
             float learning_rate, cudaStream_t stream) {
  descend_kernel<<<blocks_for(count), block_threads, 0, stream>>>(parameters, velocity, gradient,
                                                                  count, learning_rate);
  FEEDLINE_SAMPLE_CHECK(cudaGetLastError());
}

}  // namespace mnist
