#include "layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace mnist {

std::vector<layer> make_layers(std::size_t inputs) {
  constexpr std::array<std::size_t, 3> widths{256, 128, classes};
  std::vector<layer> layers;
  std::size_t offset = 0;
  for (const std::size_t width : widths) {
    const std::size_t biases = offset + width * inputs;
    layers.push_back({inputs, width, offset, biases});
    offset = biases + width;
    inputs = width;
  }
  return layers;
}

std::size_t parameter_count(const std::vector<layer>& layers) {
  return layers.back().biases + layers.back().outputs;
}

std::vector<float> initial_parameters(const std::vector<layer>& layers, std::uint64_t seed) {
  std::vector<float> parameters(parameter_count(layers));
  // The engine's numbers are the standard's; its distributions' are not, so none is used.
  std::mt19937_64 engine{seed};
  for (const layer& layer : layers) {
    const double bound = std::sqrt(6.0 / static_cast<double>(layer.inputs));
    for (std::size_t i = layer.weights; i < layer.biases; ++i) {
      const double unit = static_cast<double>(engine() >> 11) * 0x1.0p-53;
      parameters[i] = static_cast<float>(bound * (2.0 * unit - 1.0));
    }
  }
  return parameters;
}

float learning_rate_at(std::uint64_t step, std::uint64_t steps, float peak) {
  const double at = static_cast<double>(step) + 0.5;
  const double all = static_cast<double>(steps);
  const double rising = std::min(1.0, at / (0.05 * all));
  const double falling = 0.5 * (1.0 + std::cos(std::numbers::pi * at / all));
  return peak * static_cast<float>(std::min(rising, falling));
}

}  // namespace mnist
