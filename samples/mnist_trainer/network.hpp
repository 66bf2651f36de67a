#pragma once

#include <feedline/sampler/shard.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#ifdef __CUDACC__
#define MNIST_ANYWHERE __host__ __device__
#else
#define MNIST_ANYWHERE
#endif

namespace mnist {

inline constexpr std::size_t classes = 10;
inline constexpr std::array<std::size_t, 3> layer_sizes{256, 128, classes};

/// Floats in the memory of a device, column after column.
struct matrix {
  const float* data;
  std::size_t rows;
  std::size_t columns;
  bool transposed = false;  ///< memory holds the transpose
  matrix transpose() const { return {data, columns, rows, !transposed}; }
  std::size_t height() const { return transposed ? columns : rows; }  ///< rows in memory
};

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
  float rate;
  MNIST_ANYWHERE void operator()(std::size_t i) const {
    velocity[i] = 0.9F * velocity[i] + gradient[i];
    parameters[i] -= rate * velocity[i];
  }
};

/// Softmax and cross entropy.
struct judge {
  const float* logits;
  const float* labels;
  float* slopes;         ///< gradient of the global batch's mean loss by the logits
  float* tallies;        ///< three for each digit: loss, right answers, labels that are no class
  std::size_t count;     ///< see `digits_view`
  std::size_t together;  ///< see `digits_view`
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

/// Sums of the results of batches, over all ranks.
struct score {
  double loss = 0;  ///< sum of cross entropies, in nats
  double digits = 0;
};

/// The digits of a batch, in a device's memory.
struct digits_view {
  const float* images;  ///< a row of `inputs` for each digit
  const float* labels;  ///< a row of `classes` for each: 1 at the label, else 0
  std::size_t size;
  std::size_t count;     ///< digits that count; later ones are repeats
  std::size_t together;  ///< digits that count in the batches of all ranks
};

/// The ranks that train together, where there is one. In mnist_several_gpus there are several, and
/// devices with functions of the same names, which add up what the ranks computed.
struct alone {
  static feedline::shard share() { return {}; }  ///< the rank's share of every batch
  /// Sums values on the device over all ranks, in place, for work after `wait_for_sums`.
  template <class Value>
  void sum(Value*, std::size_t) {}
  void wait_for_sums() {}
};

/// A multi-layer perceptron, inputs → 256 → 128 → 10, with ReLU between layers, trained by
/// stochastic gradient descent with momentum. A seed gives the same weights on every machine.
/// @tparam Device `cpu`, `gpu`, or one of several ranks. Each rank has a network with the same
/// weights, since gradients are summed over the ranks.
template <class Device>
class network {
 public:
  /// @param max_batch Maximum number of digits in a batch.
  network(Device& on, std::size_t inputs, std::size_t max_batch, std::uint64_t seed)
      : on_{on},
        ones_{on.template allocate<float>(max_batch)},
        tallies_{on.template allocate<float>(max_batch * 3)} {
    // The engine's numbers are the standard's; its distributions' are not, so none is used.
    std::mt19937_64 engine{seed};
    std::vector<float> initial;
    for (const std::size_t outputs : layer_sizes) {
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
    parameters_ = on.template allocate<float>(3 * count_);
    velocity_ = parameters_ + count_;
    gradient_ = velocity_ + count_;
    on.upload(std::span<const float>{initial}, parameters_);
    on.upload(std::span<const float>{std::vector<float>(max_batch, 1.0F)}, ones_);
  }

  /// Evaluates a batch, without training.
  /// @param score Three floats on the device: the batch's sums of losses, of right answers, and of
  /// labels that are no class.
  void test(const digits_view& digits, float* score) {
    const float* in = digits.images;
    for (const layer& at : layers_) {
      on_.multiply({parameters_ + at.biases, at.outputs, 1}, {ones_, 1, digits.size}, 0, at.out);
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
      on_.multiply(slopes, in.transpose(), 0, gradient_ + at.weights);
      on_.multiply(slopes, {ones_, digits.size, 1}, 0, gradient_ + at.biases);
      on_.sum(gradient_ + at.weights, at.outputs * (at.inputs + 1));
      if (i > 0) {
        on_.multiply(weights(at).transpose(), slopes, 0, layers_[i - 1].slopes);
        on_.for_each(at.inputs * digits.size, rectify{in.data, layers_[i - 1].slopes});
      }
    }
    on_.wait_for_sums();
    on_.for_each(count_, descend{parameters_, velocity_, gradient_, learning_rate});
  }

  /// All values that training changes, on the device: parameters, and then their velocities.
  std::span<float> values() const { return {parameters_, 2 * count_}; }

 private:
  struct layer {
    std::size_t inputs;
    std::size_t outputs;
    std::size_t weights;  ///< offset in `parameters_`, `velocity_` and `gradient_`
    std::size_t biases;   ///< same
    float* out;           ///< a column a digit
    float* slopes;        ///< gradient of the loss by the input of `rectify`
  };
  matrix weights(const layer& at) const {
    return {parameters_ + at.weights, at.outputs, at.inputs};
  }

  Device& on_;
  float* ones_;  // a product with them adds biases, or sums columns
  float* tallies_;
  std::vector<layer> layers_;
  std::size_t count_ = 0;
  float *parameters_ = nullptr, *velocity_ = nullptr, *gradient_ = nullptr;
};

}  // namespace mnist
