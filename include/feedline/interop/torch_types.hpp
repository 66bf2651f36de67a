#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <torch/types.h>
#include <torch/version.h>

#if TORCH_VERSION_MAJOR < 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 3)
#error "feedline/torch.hpp needs libtorch 2.3: older ones have no unsigned 16 to 64 bit integers"
#endif

namespace FEEDLINE_EXPORT feedline::libtorch {

/// libtorch's name of an element type. It has one for each.
[[nodiscard]] inline c10::ScalarType scalar_type(element_type type) {
  switch (type) {
    case element_type::u8:
      return torch::kUInt8;
    case element_type::i8:
      return torch::kInt8;
    case element_type::u16:
      return torch::kUInt16;
    case element_type::i16:
      return torch::kInt16;
    case element_type::u32:
      return torch::kUInt32;
    case element_type::i32:
      return torch::kInt32;
    case element_type::u64:
      return torch::kUInt64;
    case element_type::i64:
      return torch::kInt64;
    case element_type::f16:
      return torch::kFloat16;
    case element_type::bf16:
      return torch::kBFloat16;
    case element_type::f32:
      return torch::kFloat32;
    case element_type::f64:
      return torch::kFloat64;
    case element_type::boolean:
      return torch::kBool;
  }
  throw usage_error{"libtorch has no type for feedline's element type number " +
                    std::to_string(static_cast<int>(type))};
}

/// feedline's element type for a libtorch type.
/// @throws usage_error for types that feedline does not have: complex, quantized, 8-bit floating
/// point.
[[nodiscard]] inline element_type element_type_for(c10::ScalarType type) {
  for (int value = 0; value <= static_cast<int>(element_type::boolean); ++value) {
    if (scalar_type(static_cast<element_type>(value)) == type)
      return static_cast<element_type>(value);
  }
  throw usage_error{"feedline has no element type for libtorch's " +
                    std::string{c10::toString(type)} +
                    ": convert the tensor first, as by tensor.to(torch::kFloat32)"};
}

/// A field with the type and shape of one sample's tensor.
/// @throws usage_error like `element_type_for`.
[[nodiscard]] inline field field_of(std::string name, const torch::Tensor& sample) {
  return {std::move(name), element_type_for(sample.scalar_type()),
          std::vector<std::uint64_t>(sample.sizes().begin(), sample.sizes().end())};
}

/// Sizes of a tensor with some samples of a field: {64, 28, 28}; {64} for a scalar field.
[[nodiscard]] inline std::vector<std::int64_t> sizes_of(std::uint64_t samples, const field& of) {
  std::vector<std::int64_t> sizes{static_cast<std::int64_t>(samples)};
  sizes.insert(sizes.end(), of.shape.begin(), of.shape.end());
  return sizes;
}

}  // namespace feedline::libtorch
