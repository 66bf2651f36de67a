#pragma once

#include <torch/torch.h>

namespace mnist {

/// The network of libtorch's MNIST example.
struct net : torch::nn::Module {
  net()
      : conv1{torch::nn::Conv2dOptions(1, 10, /*kernel_size=*/5)},
        conv2{torch::nn::Conv2dOptions(10, 20, /*kernel_size=*/5)},
        fc1{320, 50},
        fc2{50, 10} {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(const torch::Tensor& images) {
    torch::Tensor x = torch::relu(torch::max_pool2d(conv1->forward(images), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = torch::relu(fc1->forward(x.reshape({-1, 320})));
    x = torch::dropout(x, /*p=*/0.5, is_training());
    return torch::log_softmax(fc2->forward(x), /*dim=*/1);
  }

  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Dropout2d conv2_drop;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

/// Sums over some batches, which stay on the device until they are asked for.
class score {
 public:
  explicit score(torch::Device device) : loss_{torch::zeros({}, device)}, right_{loss_.clone()} {}

  /// @param loss Sum over the batch. @param output Output of the network.
  void add(const torch::Tensor& loss, const torch::Tensor& output, const torch::Tensor& labels) {
    const torch::NoGradGuard no_grad;
    loss_ += loss;
    right_ += output.argmax(1).eq(labels).sum();
    digits_ += labels.size(0);
  }

  /// Averages over the digits. These functions wait for the device.
  [[nodiscard]] double loss() const { return loss_.item<double>() / static_cast<double>(digits_); }
  [[nodiscard]] double accuracy() const {
    return right_.item<double>() / static_cast<double>(digits_);
  }

 private:
  torch::Tensor loss_;
  torch::Tensor right_;
  std::int64_t digits_ = 0;
};

}  // namespace mnist
