#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mnist {

inline constexpr std::size_t classes = 10;

/// The loader makes floats of about mean 0 and deviation 1 of bytes: these are MNIST's, of a pixel of
/// 0 to 255.
inline constexpr double pixel_mean = 33.3;
inline constexpr double pixel_deviation = 78.6;

/// A dense layer, and where in the one array of all parameters its own lie: `outputs × inputs`
/// weights, column after column, and `outputs` biases.
struct layer {
  std::size_t inputs;
  std::size_t outputs;
  std::size_t weights;  ///< offset
  std::size_t biases;   ///< offset
};

/// inputs → 256 → 128 → 10.
[[nodiscard]] std::vector<layer> make_layers(std::size_t inputs);

/// Floats in the array of all parameters.
[[nodiscard]] std::size_t parameter_count(const std::vector<layer>& layers);

/// Weights drawn for ReLU layers (He et al., "Delving deep into rectifiers", 2015), biases 0; the
/// same for the same seed on every machine.
[[nodiscard]] std::vector<float> initial_parameters(const std::vector<layer>& layers,
                                                    std::uint64_t seed);

/// The rate at a step: up in the first twentieth of all steps, then down along a cosine to nearly
/// 0.
[[nodiscard]] float learning_rate_at(std::uint64_t step, std::uint64_t steps, float peak);

}  // namespace mnist
