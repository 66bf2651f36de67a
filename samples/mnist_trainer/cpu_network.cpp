#include "cpu_network.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace mnist {
namespace {

Eigen::Index as_index(std::size_t value) {
  return static_cast<Eigen::Index>(value);
}

}  // namespace

cpu_network::cpu_network(const network_options& options) : layers_{make_layers(options.inputs)} {
  const std::vector<float> initial = initial_parameters(layers_, options.seed);
  parameters_ = Eigen::Map<const Eigen::VectorXf>{initial.data(), as_index(initial.size())};
  gradient_ = Eigen::VectorXf::Zero(parameters_.size());
  velocity_ = Eigen::VectorXf::Zero(parameters_.size());
  const Eigen::Index columns = as_index(options.max_batch);
  for (const layer& layer : layers_) {
    activations_.emplace_back(as_index(layer.outputs), columns);
    deltas_.emplace_back(as_index(layer.outputs), columns);
  }
}

cpu_network::weights_map cpu_network::weights(Eigen::VectorXf& of, const layer& layer) const {
  return {of.data() + layer.weights, as_index(layer.outputs), as_index(layer.inputs)};
}

cpu_network::biases_map cpu_network::biases(Eigen::VectorXf& of, const layer& layer) const {
  return {of.data() + layer.biases, as_index(layer.outputs)};
}

cpu_network::inputs_map cpu_network::inputs_of(std::size_t layer, const digits_view& batch) const {
  return {layer == 0 ? batch.images : activations_[layer - 1].data(),
          as_index(layers_[layer].inputs), as_index(batch.count)};
}

void cpu_network::forward(const digits_view& batch) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    auto out = activations_[i].leftCols(as_index(batch.count));
    out.noalias() = weights(parameters_, layers_[i]) * inputs_of(i, batch);
    out.colwise() += biases(parameters_, layers_[i]);
    if (i + 1 < layers_.size()) out = out.cwiseMax(0.0F);
  }
}

/// Softmax and cross entropy: counts, and leaves the loss's slope in the last delta.
void cpu_network::judge(const digits_view& batch) {
  for (Eigen::Index i = 0; i < as_index(batch.count); ++i) {
    const Eigen::Index label = batch.labels[i];
    if (label >= as_index(classes))
      throw std::runtime_error{"a label is " + std::to_string(label) +
                               ": the trainer knows the classes 0 to 9"};
    const auto logits = activations_.back().col(i);
    auto delta = deltas_.back().col(i);
    Eigen::Index answer = 0;
    const float highest = logits.maxCoeff(&answer);
    delta = (logits.array() - highest).exp().matrix();
    const float sum = delta.sum();
    delta *= 1.0F / sum;
    loss_ += static_cast<double>(std::log(sum) - (logits[label] - highest));
    correct_ += answer == label ? 1U : 0U;
    delta[label] -= 1.0F;
  }
  seen_ += batch.count;
}

void cpu_network::backward(const digits_view& batch) {
  const Eigen::Index count = as_index(batch.count);
  deltas_.back().leftCols(count) *= 1.0F / static_cast<float>(count);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const auto delta = deltas_[i].leftCols(count);
    const auto in = inputs_of(i, batch);
    weights(gradient_, layers_[i]).noalias() = delta * in.transpose();
    biases(gradient_, layers_[i]) = delta.rowwise().sum();
    if (i == 0) break;
    auto below = deltas_[i - 1].leftCols(count);
    below.noalias() = weights(parameters_, layers_[i]).transpose() * delta;
    below = (in.array() > 0.0F).select(below, 0.0F);
  }
}

void cpu_network::train(const digits_view& batch, float learning_rate) {
  forward(batch);
  judge(batch);
  backward(batch);
  velocity_ = momentum * velocity_ + gradient_;
  parameters_ -= learning_rate * velocity_;
}

void cpu_network::test(const digits_view& batch) {
  forward(batch);
  judge(batch);
}

score cpu_network::take_score() {
  const auto seen = static_cast<double>(seen_);
  const score taken{loss_ / seen, static_cast<double>(correct_) / seen};
  loss_ = 0.0;
  correct_ = 0;
  seen_ = 0;
  return taken;
}

}  // namespace mnist
