#pragma once

#include "cuda_kernels.cuh"
#include "cuda_support.cuh"
#include "network.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace mnist {

/// The network on the current GPU: cuBLAS for the products, kernels for what is between them, all
/// on one stream.
class cuda_network final : public network {
 public:
  cuda_network(const network_options& options, std::shared_ptr<const cuda_stream> stream);

  void train(const digits_view& batch, float learning_rate) override;
  void test(const digits_view& batch) override;
  [[nodiscard]] score take_score() override;

 private:
  void forward(const digits_view& batch);
  void judge_last(const digits_view& batch, float* delta);
  void backward(const digits_view& batch);
  /// A layer's inputs: the batch's images, or the activations of the layer before.
  [[nodiscard]] const float* inputs_of(std::size_t layer, const digits_view& batch) const;

  std::shared_ptr<const cuda_stream> stream_;
  cublas blas_;
  std::vector<layer> layers_;
  device_array<float> parameters_;
  device_array<float> gradient_;
  device_array<float> velocity_;
  std::vector<device_array<float>> activations_;  // every layer's output
  std::vector<device_array<float>> deltas_;       // the loss's slope at every layer's output
  device_array<device_tally> tally_;
  std::size_t seen_ = 0;
};

}  // namespace mnist
