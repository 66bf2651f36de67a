#pragma once

#include "files.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __CUDACC__
#define MNIST_ANYWHERE __host__ __device__
#else
#define MNIST_ANYWHERE
#endif

namespace mnist {

inline constexpr std::size_t classes = 10;

using seconds = std::chrono::duration<double>;

/// Times of an epoch, measured by a device from before its first batch was taken until the work on
/// the last one was done.
struct epoch_times {
  seconds took{};
  seconds waited{};  ///< part of it spent waiting for data
};

/// Floats in the memory of a device, column after column.
struct matrix {
  const float* data;
  std::size_t rows;
  std::size_t columns;
  bool transposed = false;  ///< memory holds the transpose
};
inline matrix transposed(const matrix& from) {
  return {from.data, from.columns, from.rows, !from.transposed};
}

// Operations on one element, or on one digit, on any device.

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
  float* slopes;         ///< gradient of the global batch's mean loss by the logits
  float* tallies;        ///< three for each digit: loss, right answers, labels that are no class
  std::size_t count;     ///< digits that count; later ones are repeats and have no slope
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

/// Adds the content of a batch to a checksum: each float's bits, weighed by their index in the
/// batch of all ranks. A sum of integers has no order, so neither threads nor the number of ranks
/// change it.
struct fold {
  const float* values;
  std::size_t first;  ///< index of the first one
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

/// The digits of a batch, in a device's memory, and how they belong to the batch of all ranks.
struct digits_view {
  const float* images;   ///< a row of `inputs` for each digit
  const float* labels;   ///< a row of `classes` for each: 1 at the label, else 0
  std::size_t size;      ///< digits in the batch
  std::size_t count;     ///< digits that count: the others are repeats
  std::size_t together;  ///< digits that count in all ranks' batches together
  std::size_t first;     ///< index of its first one among these
};

/// A multi-layer perceptron, inputs → 256 → 128 → 10, with ReLU between layers, trained by
/// stochastic gradient descent with momentum. A seed gives the same weights on every machine.
///
/// Each rank has one, fed with its part of every batch. Gradients are summed over the ranks, so all
/// have the same weights at any time.
/// @tparam Device `cpu` or `gpu`.
template <class Device>
class network {
 public:
  /// @param max_batch Digits in a batch, at most.
  /// @param overlap Sum each layer's gradient while that of the layer before is computed; else all
  /// at once, after the last.
  network(Device& on, std::size_t inputs, std::size_t max_batch, std::uint64_t seed, bool overlap)
      : on_{on},
        overlap_{overlap},
        ones_{on.template allocate<float>(max_batch)},
        tallies_{on.template allocate<float>(max_batch * 3)} {
    // The engine's numbers are the standard's; its distributions' are not, so none is used.
    std::mt19937_64 engine{seed};
    std::vector<float> initial;
    for (const std::size_t outputs : {std::size_t{256}, std::size_t{128}, classes}) {
      layers_.push_back({inputs, outputs, initial.size(), initial.size() + inputs * outputs,
                         on.template allocate<float>(outputs * max_batch),
                         on.template allocate<float>(outputs * max_batch)});
      // He et al., "Delving deep into rectifiers", 2015. Biases are 0.
      const double bound = std::sqrt(6.0 / static_cast<double>(inputs));
      for (std::size_t i = 0; i < inputs * outputs; ++i) {
        const double unit = static_cast<double>(engine() >> 11) * 0x1.0p-53;
        initial.push_back(static_cast<float>(bound * (2.0 * unit - 1.0)));
      }
      initial.resize(initial.size() + outputs);
      inputs = outputs;
    }
    count_ = initial.size();
    for (float** const each : {&parameters_, &velocity_, &gradient_})
      *each = on.template allocate<float>(count_);
    on.upload(std::span<const float>{initial}, parameters_);
    on.upload(std::span<const float>{std::vector<float>(max_batch, 1.0F)}, ones_);
  }

  /// Evaluates a batch, without training.
  /// @param score Three floats on the device: the batch's sums of losses, of right answers, and of
  /// labels that are no class.
  void test(const digits_view& digits, float* score) {
    const float* in = digits.images;
    for (const layer& at : layers_) {
      on_.multiply({biases(at), at.outputs, 1}, {ones_, 1, digits.size}, 0, at.out);
      on_.multiply(weights(at), {in, at.inputs, digits.size}, 1, at.out);
      if (&at != &layers_.back()) on_.for_each(at.outputs * digits.size, rectify{at.out, at.out});
      in = at.out;
    }
    on_.for_each(digits.size, judge{in, digits.labels, layers_.back().slopes, tallies_,
                                    digits.count, digits.together});
    on_.multiply({tallies_, 3, digits.size}, {ones_, digits.size, 1}, 0, score);
  }

  /// One step down the gradient of the mean loss over the batches of all ranks.
  void train(const digits_view& digits, float* score, float learning_rate) {
    test(digits, score);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const layer& at = layers_[i];
      const matrix slopes{at.slopes, at.outputs, digits.size};
      const matrix in{i == 0 ? digits.images : layers_[i - 1].out, at.inputs, digits.size};
      on_.multiply(slopes, transposed(in), 0, gradient_ + at.weights);
      on_.multiply(slopes, {ones_, digits.size, 1}, 0, gradient_ + at.biases);
      if (overlap_) on_.sum(gradient_ + at.weights, at.outputs * (at.inputs + 1));
      if (i > 0) {
        on_.multiply(transposed(weights(at)), slopes, 0, layers_[i - 1].slopes);
        on_.for_each(at.inputs * digits.size, rectify{in.data, layers_[i - 1].slopes});
      }
    }
    if (!overlap_) on_.sum(gradient_, count_);
    on_.wait_for_sums();
    on_.for_each(count_, descend{parameters_, velocity_, gradient_, 0.9F, learning_rate});
  }

  /// All values that training changes, for a checkpoint: weights, biases and their velocity. Waits
  /// for the device.
  std::vector<float> save() const {
    std::vector<float> values(2 * count_);
    on_.download(parameters_, std::span{values}.first(count_));
    on_.download(velocity_, std::span{values}.last(count_));
    return values;
  }
  /// @param values Result of `save` of a network with the same `sizes`.
  void load(std::span<const float> values) {
    on_.upload(values.first(count_), parameters_);
    on_.upload(values.last(count_), velocity_);
  }
  /// The number of inputs, then the size of each layer.
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes{layers_.front().inputs};
    for (const layer& at : layers_) sizes.push_back(at.outputs);
    return sizes;
  }

 private:
  /// The layer's weights, and its biases after them, have the same offsets in `parameters_`,
  /// `velocity_` and `gradient_`.
  struct layer {
    std::size_t inputs;
    std::size_t outputs;
    std::size_t weights;
    std::size_t biases;
    float* out;     ///< a column a digit
    float* slopes;  ///< gradient of the loss by the input of `rectify`
  };
  matrix weights(const layer& at) const {
    return {parameters_ + at.weights, at.outputs, at.inputs};
  }
  const float* biases(const layer& at) const { return parameters_ + at.biases; }

  Device& on_;
  bool overlap_;
  float* ones_;  // a product with them adds biases, or sums columns
  float* tallies_;
  std::vector<layer> layers_;
  std::size_t count_ = 0;
  float* parameters_ = nullptr;
  float* velocity_ = nullptr;
  float* gradient_ = nullptr;
};

/// @param labels Number of labels that were no class. @throws std::runtime_error if there are any.
inline void require_classes(double labels) {
  if (labels != 0)
    throw std::runtime_error{std::to_string(static_cast<std::size_t>(labels)) +
                             " labels are above 9: the trainer knows the classes 0 to 9"};
}

/// Result of one batch, over all ranks.
struct batch_result {
  score of;
  unsigned long long checksum = 0;
};

/// Keeps the results of batches on the device until they are asked for: so no step waits for the
/// device, nor for other ranks.
template <class Device>
class scoreboard {
 public:
  /// @param max_batches Maximum number of batches between two calls of `take`.
  scoreboard(Device& on, std::size_t max_batches, std::size_t inputs, bool checksums)
      : on_{on},
        inputs_{inputs},
        wants_checksums_{checksums},
        scores_{on.template allocate<float>(max_batches * 3)},
        checksums_{on.template allocate<unsigned long long>(max_batches)} {}

  /// Begins a batch, and adds up its bytes if checksums are wanted.
  /// @return Address for the batch's score.
  float* next(const digits_view& digits) {
    const std::size_t at = together_.size();
    together_.push_back(digits.together);
    if (wants_checksums_) {
      const std::size_t images = digits.together * inputs_;  // labels follow the images
      on_.for_each(digits.count * inputs_,
                   fold{digits.images, digits.first * inputs_, checksums_ + at});
      on_.for_each(digits.count * classes,
                   fold{digits.labels, images + digits.first * classes, checksums_ + at});
    }
    return scores_ + at * 3;
  }

  /// The results of all batches since the last call. Waits for the device and for all ranks, which
  /// must call it after the same batch. @throws std::runtime_error if a label was no class.
  std::vector<batch_result> take() {
    const std::size_t batches = together_.size();
    std::vector<batch_result> results(batches);
    if (batches == 0) return results;
    std::vector<float> scores(batches * 3);
    std::vector<unsigned long long> checksums(batches);
    on_.sum(scores_, scores.size());
    if (wants_checksums_) on_.sum(checksums_, batches);
    on_.wait_for_sums();
    on_.download(scores_, std::span{scores});
    on_.download(checksums_, std::span{checksums});
    on_.upload(std::span<const unsigned long long>{std::vector<unsigned long long>(batches)},
               checksums_);
    double unknown = 0;
    for (std::size_t i = 0; i < batches; ++i) {
      unknown += scores[3 * i + 2];
      results[i] = {{scores[3 * i], scores[3 * i + 1], static_cast<double>(together_[i])},
                    checksums[i]};
    }
    together_.clear();
    require_classes(unknown);
    return results;
  }

 private:
  Device& on_;
  std::size_t inputs_;
  bool wants_checksums_;
  float* scores_;  // three for each batch: losses, right answers, labels that are no class
  unsigned long long* checksums_;
  std::vector<std::size_t> together_;  // digits of each batch since the last `take`
};

}  // namespace mnist
