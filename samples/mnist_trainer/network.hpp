#pragma once

#include "operations.hpp"

#include <random>
#include <span>
#include <vector>

namespace mnist {

/// The digits of a batch, in a device's memory, and how they belong to the batch of all ranks.
struct digits_view {
  const float* images;   ///< a row of `inputs` for each digit
  const float* labels;   ///< a row of `classes` for each: 1 at the label, else 0
  std::size_t size;      ///< digits in the batch
  std::size_t count;     ///< of them, those that count: the others are repeats
  std::size_t together;  ///< digits that count in all ranks' batches together
  std::size_t first;     ///< place of its first one among these
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
  /// at once, behind the last.
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

  /// Only answers.
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

  /// All that training changes, for a checkpoint: weights, biases and their velocity. Waits for the
  /// device.
  std::vector<float> save() const {
    std::vector<float> values(2 * count_);
    on_.download(parameters_, std::span{values}.first(count_));
    on_.download(velocity_, std::span{values}.last(count_));
    return values;
  }
  /// @param values From `save` of a network of the same `sizes`.
  void load(std::span<const float> values) {
    on_.upload(values.first(count_), parameters_);
    on_.upload(values.last(count_), velocity_);
  }
  /// How many inputs it has, and then each layer.
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes{layers_.front().inputs};
    for (const layer& at : layers_) sizes.push_back(at.outputs);
    return sizes;
  }

 private:
  /// Its weights, and its biases behind them, have the same places in all three of `parameters_`,
  /// `velocity_` and `gradient_`.
  struct layer {
    std::size_t inputs;
    std::size_t outputs;
    std::size_t weights;
    std::size_t biases;
    float* out;     ///< a column a digit
    float* slopes;  ///< of the loss, by what `rectify` was given
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

}  // namespace mnist
