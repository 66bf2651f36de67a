#pragma once

#include "layers.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace mnist {

/// What the GPU counts, in its own memory.
struct device_tally {
  double loss;
  unsigned long long correct;
  unsigned long long bad_labels;
};

// The network's kernels. Each function issues one on the stream and returns; matrices hold a column
// a digit. @throws std::runtime_error if the launch fails.

/// Adds a bias to every row, then ReLU.
void add_bias_and_rectify(float* values, const float* biases, std::size_t rows, std::size_t columns,
                          cudaStream_t stream);

/// Adds the biases, softmax, cross entropy: counts into the tally and, where `delta` is not null,
/// writes the mean loss's slope at the logits.
void judge(const float* logits, const float* biases, const std::uint8_t* labels, float* delta,
           device_tally* tally, std::size_t columns, cudaStream_t stream);

/// Sums every row.
void sum_rows(const float* values, float* sums, std::size_t rows, std::size_t columns,
              cudaStream_t stream);

/// Zeroes the slope where ReLU gave 0.
void mask(float* delta, const float* activations, std::size_t count, cudaStream_t stream);

/// One step of gradient descent with momentum.
void descend(float* parameters, float* velocity, const float* gradient, std::size_t count,
             float learning_rate, cudaStream_t stream);

}  // namespace mnist
