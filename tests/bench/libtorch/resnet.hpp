#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <torch/torch.h>

namespace feedline::bench {

/// Appends a convolution without bias and its normalization to a network.
inline void push_convolution(torch::nn::Sequential& network, std::int64_t in, std::int64_t out,
                             std::int64_t kernel, std::int64_t stride = 1) {
  network->push_back(torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false)));
  network->push_back(torch::nn::BatchNorm2d(out));
}

inline torch::nn::ReLU relu() {
  return torch::nn::ReLU(torch::nn::ReLUOptions().inplace(true));
}

/// A residual block of two 3x3 convolutions, or a bottleneck of three, with its stride in the 3x3
/// one and four times the channels after it.
struct residual_block : torch::nn::Module {
  residual_block(std::int64_t in, std::int64_t width, std::int64_t stride, bool bottleneck) {
    const std::int64_t out = bottleneck ? 4 * width : width;
    if (bottleneck) {
      push_convolution(path, in, width, 1);
      path->push_back(relu());
      push_convolution(path, width, width, 3, stride);
    } else {
      push_convolution(path, in, width, 3, stride);
    }
    path->push_back(relu());
    push_convolution(path, width, out, bottleneck ? 1 : 3);
    register_module("path", path);
    if (stride == 1 && in == out) return;
    push_convolution(shortcut, in, out, 1, stride);
    register_module("shortcut", shortcut);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor output = path->forward(input);
    return output.add_(shortcut->is_empty() ? input : shortcut->forward(input)).relu_();
  }

  torch::nn::Sequential path;
  torch::nn::Sequential shortcut;  ///< empty: the input as it is
};

/// ResNet-18 or, of bottlenecks, ResNet-50, for 1,000 classes: torchvision's architecture and
/// weights to begin with (He and others, "Deep Residual Learning for Image Recognition", 2015, in
/// its version 1.5).
inline torch::nn::Sequential make_resnet(bool bottlenecks) {
  constexpr std::array<int, 4> blocks_of_18{2, 2, 2, 2};
  constexpr std::array<int, 4> blocks_of_50{3, 4, 6, 3};
  torch::nn::Sequential network;
  push_convolution(network, 3, 64, 7, 2);
  network->push_back(relu());
  network->push_back(torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1)));
  std::int64_t channels = 64;
  std::int64_t width = 64;
  for (const int blocks : bottlenecks ? blocks_of_50 : blocks_of_18) {
    for (int i = 0; i < blocks; ++i) {
      const std::int64_t stride = i == 0 && width != 64 ? 2 : 1;
      network->push_back(std::make_shared<residual_block>(channels, width, stride, bottlenecks));
      channels = bottlenecks ? 4 * width : width;
    }
    width *= 2;
  }
  network->push_back(torch::nn::AdaptiveAvgPool2d(1));
  network->push_back(torch::nn::Flatten());
  network->push_back(torch::nn::Linear(channels, 1000));
  for (const auto& module : network->modules()) {
    if (const auto* convolution = module->as<torch::nn::Conv2d>())
      torch::nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
  }
  return network;
}

}  // namespace feedline::bench
