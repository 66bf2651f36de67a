#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define MNIST_ANYWHERE __host__ __device__
#else
#define MNIST_ANYWHERE
#endif

namespace mnist {

inline constexpr std::size_t classes = 10;

/// Floats in the memory of a device, column after column.
struct matrix {
  const float* data;
  std::size_t rows;
  std::size_t columns;
  bool transposed = false;  ///< it is its transpose that lies there so
};
inline matrix transposed(const matrix& from) {
  return {from.data, from.columns, from.rows, !from.transposed};
}

// What happens to one element, or to one digit, on any device.

/// ReLU, and its slope.
struct rectify {
  const float* by;
  float* values;
  MNIST_ANYWHERE void operator()(std::size_t i) const { values[i] = by[i] > 0 ? values[i] : 0; }
};

/// Stochastic gradient descent with momentum.
struct descend {
  float* parameters;
  float* velocity;
  const float* gradient;
  float momentum;
  float rate;
  MNIST_ANYWHERE void operator()(std::size_t i) const {
    velocity[i] = momentum * velocity[i] + gradient[i];
    parameters[i] -= rate * velocity[i];
  }
};

/// Softmax and cross entropy.
struct judge {
  const float* logits;
  const float* labels;
  float* slopes;         ///< of the global batch's mean loss, by the logits
  float* tallies;        ///< three for each digit: loss, right answers, labels that are no class
  std::size_t count;     ///< digits that count; those behind are repeats and have no slope
  std::size_t together;  ///< digits that count in the batches of all ranks
  MNIST_ANYWHERE void operator()(std::size_t digit) const {
    const float* const in = logits + digit * classes;
    const float* const wanted = labels + digit * classes;
    const float weight = digit < count ? 1.0F : 0.0F;
    std::size_t answer = 0;
    std::size_t label = classes;
    for (std::size_t i = 0; i < classes; ++i) {
      if (in[i] > in[answer]) answer = i;
      if (wanted[i] != 0) label = i;
    }
    float sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(in[i] - in[answer]);
    for (std::size_t i = 0; i < classes; ++i)
      slopes[digit * classes + i] =
          weight * (std::exp(in[i] - in[answer]) / sum - wanted[i]) / static_cast<float>(together);
    float* const tally = tallies + digit * 3;
    tally[0] = label < classes ? weight * (std::log(sum) - (in[label] - in[answer])) : 0.0F;
    tally[1] = answer == label ? weight : 0.0F;
    tally[2] = label == classes ? weight : 0.0F;
  }
};

/// Adds what a batch holds to a checksum: each float's bits, weighed by their place in the batch of
/// all ranks. A sum of integers has no order, so neither threads nor the number of ranks change it.
struct fold {
  const float* values;
  std::size_t first;  ///< place of the first one
  unsigned long long* checksum;
  MNIST_ANYWHERE void operator()(std::size_t i) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, values + i, sizeof bits);
    const unsigned long long weighed = (bits + 1ULL) * (2 * (first + i) + 1);
#ifdef __CUDA_ARCH__
    atomicAdd(checksum, weighed);
#else
    *checksum += weighed;
#endif
  }
};

}  // namespace mnist
