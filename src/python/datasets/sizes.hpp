#pragma once

#include <feedline/sampler/random_split.hpp>

#include <cstdint>
#include <variant>

namespace feedline::python {

/// A number of samples, or a share of them, as Python tells an int from a float.
using count_or_share = std::variant<std::int64_t, double>;

[[nodiscard]] inline split_size as_size(const count_or_share& size) {
  return std::visit([](auto value) { return split_size{value}; }, size);
}

}  // namespace feedline::python
