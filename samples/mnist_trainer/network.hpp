#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifdef __CUDACC__
#define MNIST_ANYWHERE __host__ __device__
#else
#define MNIST_ANYWHERE
#endif

namespace mnist {

using seconds = std::chrono::duration<double>;

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

struct descend {
  float* parameters;
  const float* velocity;
  float rate;
  MNIST_ANYWHERE void operator()(std::size_t i) const { parameters[i] -= rate * velocity[i]; }
};

/// Softmax and cross entropy.
struct judge {
  const float* logits;
  const float* labels;
  float* slopes;   ///< of the mean loss, by the logits
  float* tallies;  ///< of each column of batches: losses, right answers, labels that are no class
  std::size_t count;
  MNIST_ANYWHERE void operator()(std::size_t digit) const {
    const float* const in = logits + digit * classes;
    const float* const wanted = labels + digit * classes;
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
          (std::exp(in[i] - in[answer]) / sum - wanted[i]) / static_cast<float>(count);
    float* const tally = tallies + digit * 3;
    if (label < classes) tally[0] += std::log(sum) - (in[label] - in[answer]);
    tally[1] += answer == label ? 1.0F : 0.0F;
    tally[2] += label == classes ? 1.0F : 0.0F;
  }
};

/// What a network did since it was last asked.
struct score {
  double mean_loss;  ///< cross entropy, in nats
  double accuracy;   ///< share of digits recognised
};

/// A multi-layer perceptron, inputs → 256 → 128 → 10, with ReLU between layers, trained by
/// stochastic gradient descent with momentum. A seed gives the same weights on every machine.
/// @tparam Device `cpu` or `gpu`.
template <class Device>
class network {
 public:
  /// @param max_batch Digits in a batch, at most.
  network(Device& on, std::size_t inputs, std::size_t max_batch, std::uint64_t seed)
      : on_{on}, ones_{on.allocate(max_batch)}, tallies_(max_batch * 3) {
    // The engine's numbers are the standard's; its distributions' are not, so none is used.
    std::mt19937_64 engine{seed};
    for (const std::size_t outputs : {std::size_t{256}, std::size_t{128}, classes}) {
      std::vector<float> weights(inputs * outputs);
      // He et al., "Delving deep into rectifiers", 2015. Biases are 0.
      const double bound = std::sqrt(6.0 / static_cast<double>(inputs));
      for (float& weight : weights) {
        const double unit = static_cast<double>(engine() >> 11) * 0x1.0p-53;
        weight = static_cast<float>(bound * (2.0 * unit - 1.0));
      }
      layers_.push_back({inputs, outputs, on.allocate(weights.size()), on.allocate(weights.size()),
                         on.allocate(outputs), on.allocate(outputs),
                         on.allocate(outputs * max_batch), on.allocate(outputs * max_batch)});
      on.upload(weights, layers_.back().weights);
      inputs = outputs;
    }
    device_tallies_ = on.allocate(tallies_.size());
    on.upload(std::vector<float>(max_batch, 1.0F), ones_);
  }

  /// Only answers.
  /// @param images A row of `inputs` for each digit.
  /// @param labels A row of `classes` for each: 1 at the label, else 0.
  void test(const float* images, const float* labels, std::size_t count) {
    const float* in = images;
    for (const layer& at : layers_) {
      on_.multiply({at.biases, at.outputs, 1}, {ones_, 1, count}, 0, at.out);
      on_.multiply({at.weights, at.outputs, at.inputs}, {in, at.inputs, count}, 1, at.out);
      if (&at != &layers_.back()) on_.for_each(at.outputs * count, rectify{at.out, at.out});
      in = at.out;
    }
    on_.for_each(count, judge{in, labels, layers_.back().slopes, device_tallies_, count});
    seen_ += count;
  }

  /// One step down the gradient of the mean loss over the batch.
  void train(const float* images, const float* labels, std::size_t count, float learning_rate) {
    constexpr float momentum = 0.9F;
    test(images, labels, count);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const layer& at = layers_[i];
      const matrix slopes{at.slopes, at.outputs, count};
      const matrix in{i == 0 ? images : layers_[i - 1].out, at.inputs, count};
      on_.multiply(slopes, transposed(in), momentum, at.weights_velocity);
      on_.multiply(slopes, {ones_, count, 1}, momentum, at.biases_velocity);
      if (i > 0) {
        const matrix weights{at.weights, at.outputs, at.inputs};
        on_.multiply(transposed(weights), slopes, 0, layers_[i - 1].slopes);
        on_.for_each(at.inputs * count, rectify{in.data, layers_[i - 1].slopes});
      }
      on_.for_each(at.outputs * at.inputs, descend{at.weights, at.weights_velocity, learning_rate});
      on_.for_each(at.outputs, descend{at.biases, at.biases_velocity, learning_rate});
    }
  }

  /// Waits for the device. @throws std::runtime_error if a label was no class.
  [[nodiscard]] score take_score() {
    on_.download(device_tallies_, tallies_);
    on_.upload(std::vector<float>(tallies_.size()), device_tallies_);
    double sums[3] = {};
    for (std::size_t i = 0; i < tallies_.size(); ++i) sums[i % 3] += tallies_[i];
    if (sums[2] != 0)
      throw std::runtime_error{std::to_string(static_cast<std::size_t>(sums[2])) +
                               " labels are above 9: the trainer knows the classes 0 to 9"};
    const auto seen = static_cast<double>(std::exchange(seen_, 0));
    return {sums[0] / seen, sums[1] / seen};
  }

 private:
  struct layer {
    std::size_t inputs;
    std::size_t outputs;
    float* weights;
    float* weights_velocity;
    float* biases;
    float* biases_velocity;
    float* out;     ///< a column a digit
    float* slopes;  ///< of the loss, by what `rectify` was given
  };

  Device& on_;
  float* ones_;  // a product with them adds biases, or sums columns
  std::vector<layer> layers_;
  float* device_tallies_ = nullptr;
  std::vector<float> tallies_;
  std::size_t seen_ = 0;
};

}  // namespace mnist
