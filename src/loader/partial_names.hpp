#pragma once

#include <feedline/sampler/partial_batch.hpp>

#include "detail/known_value.hpp"

#include <array>
#include <string_view>

namespace feedline::detail {

/// The names of `partial_batch`'s values, in their order.
inline constexpr std::array<std::string_view, 4> partial_names{"keep", "drop", "error", "fill"};

/// The name of a state's value. @throws usage_error if it is not a known value.
[[nodiscard]] inline std::string_view name_of(partial_batch policy) {
  require_known("loader_state::partial_batch", policy, partial_names);
  return name_in(partial_names, policy);
}

}  // namespace feedline::detail
