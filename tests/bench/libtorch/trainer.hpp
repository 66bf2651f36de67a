#pragma once

#include "bench/libtorch/resnet.hpp"

#include <cstdint>
#include <vector>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

namespace feedline::bench {

/// Computes in bf16 what does well in it, while it lives, on this thread.
class autocast {
 public:
  autocast() {
    at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCUDA, true);
  }
  autocast(const autocast&) = delete;
  autocast& operator=(const autocast&) = delete;
  ~autocast() {
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    at::autocast::clear_cache();  // cached weights, which change with each step
  }
};

/// A ResNet on the GPU in channels-last layout, and what trains it: cross entropy, and stochastic
/// gradient descent with momentum in one kernel for many weights. Two of the same seed begin with
/// the same weights.
class trainer {
 public:
  trainer(bool bottlenecks, std::uint64_t seed) {
    torch::manual_seed(seed);
    network_ = make_resnet(bottlenecks);
    network_->to(torch::kCUDA);
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& weight : network_->parameters()) {
      if (weight.dim() == 4) weight.set_data(weight.contiguous(torch::MemoryFormat::ChannelsLast));
      weights_.push_back(weight);
      momenta_.push_back(torch::zeros_like(weight));
    }
  }

  /// Issues a step on the current stream. When it returns, all of the step's work on the GPU has
  /// been issued.
  /// @param images {N, 3, H, W}, bf16, channels last.
  /// @param labels {N}, i64.
  void step(const torch::Tensor& images, const torch::Tensor& labels) {
    torch::Tensor loss;
    {
      const autocast to_bf16;
      loss = torch::nn::functional::cross_entropy(network_->forward(images), labels);
    }
    loss.backward();
    loss_ = loss.detach();
    std::vector<torch::Tensor> gradients;
    for (const torch::Tensor& weight : weights_) gradients.push_back(weight.grad());
    const torch::NoGradGuard no_grad;
    at::_fused_sgd_(weights_, gradients, momenta_, /*weight_decay=*/1e-4, /*momentum=*/0.9,
                    /*lr=*/0.01, /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false);
    for (torch::Tensor& weight : weights_) weight.mutable_grad().reset();
  }

  /// Loss of the last step. Waits for it.
  [[nodiscard]] double loss() const { return loss_.item<double>(); }

 private:
  torch::nn::Sequential network_{nullptr};
  std::vector<torch::Tensor> weights_;
  std::vector<torch::Tensor> momenta_;
  torch::Tensor loss_;
};

}  // namespace feedline::bench
