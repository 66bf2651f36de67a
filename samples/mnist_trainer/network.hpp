#pragma once

#include "layers.hpp"

#include <cstddef>
#include <cstdint>

namespace mnist {

/// A batch of digits in the memory of the network's device: bytes crossed the bus, and the loader
/// made floats of them.
struct digits_view {
  const float* images;         ///< `count` rows of as many pixels as the network has inputs
  const std::uint8_t* labels;  ///< `count` bytes, each less than `classes`
  std::size_t count;
};

/// What a network did since it was last asked.
struct score {
  double mean_loss = 0.0;  ///< cross entropy, in nats
  double accuracy = 0.0;   ///< share of digits recognised
};

/// A multi-layer perceptron with ReLU between layers and softmax cross entropy at the end, trained
/// by stochastic gradient descent with momentum. The interface of one network on any device.
///
/// Threads: one. On a GPU, `train` and `test` only issue work on the network's stream and return.
class network {
 public:
  network() = default;
  network(const network&) = delete;
  network& operator=(const network&) = delete;
  virtual ~network() = default;

  /// One step down the gradient of the mean loss over the batch.
  virtual void train(const digits_view& batch, float learning_rate) = 0;
  /// Only answers.
  virtual void test(const digits_view& batch) = 0;
  /// Blocks until all work issued so far is done. @throws std::runtime_error if a label was no
  /// class.
  [[nodiscard]] virtual score take_score() = 0;
};

/// What a network is made of, the same on every device.
struct network_options {
  std::size_t inputs = 784;      ///< pixels of an image
  std::size_t max_batch = 1024;  ///< digits in a batch, at most
  std::uint64_t seed = 1;        ///< of the initial weights
};

inline constexpr float momentum = 0.9F;

}  // namespace mnist
