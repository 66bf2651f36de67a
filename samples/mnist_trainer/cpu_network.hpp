#pragma once

#include "network.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mnist {

/// The network on the CPU, by Eigen, on the calling thread alone. Eigen could spread its products
/// over the cores, but these are small: that doubled the rate of an idle machine with two cores,
/// and cut it to a tenth when the machine had other work. So, too, a seed gives the same weights on
/// any number of cores.
class cpu_network final : public network {
 public:
  explicit cpu_network(const network_options& options);

  void train(const digits_view& batch, float learning_rate) override;
  void test(const digits_view& batch) override;
  [[nodiscard]] score take_score() override;

 private:
  using matrix = Eigen::MatrixXf;  // a column a digit
  using weights_map = Eigen::Map<matrix>;
  using inputs_map = Eigen::Map<const matrix>;
  using biases_map = Eigen::Map<Eigen::VectorXf>;

  [[nodiscard]] weights_map weights(Eigen::VectorXf& of, const layer& layer) const;
  [[nodiscard]] biases_map biases(Eigen::VectorXf& of, const layer& layer) const;
  void forward(const digits_view& batch);
  void judge(const digits_view& batch);
  void backward(const digits_view& batch);
  /// A layer's inputs: the batch's images, or the activations of the layer before.
  [[nodiscard]] inputs_map inputs_of(std::size_t layer, const digits_view& batch) const;

  std::vector<layer> layers_;
  Eigen::VectorXf parameters_;
  Eigen::VectorXf gradient_;
  Eigen::VectorXf velocity_;
  std::vector<matrix> activations_;  // every layer's output
  std::vector<matrix> deltas_;       // the loss's slope at every layer's output, before ReLU
  double loss_ = 0.0;
  std::uint64_t correct_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace mnist
