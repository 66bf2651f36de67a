#pragma once

#include <array>
#include <string_view>

namespace feedline::detail {

/// The names of `partial_batch`'s values, in their order.
inline constexpr std::array<std::string_view, 4> partial_names{"keep", "drop", "error", "fill"};

}  // namespace feedline::detail
