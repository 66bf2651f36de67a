#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Whether bytes look like a pickle of protocol 2 to 5.
[[nodiscard]] inline bool is_pickled(std::span<const std::byte> value) noexcept {
  return value.size() > 3 && value[0] == std::byte{0x80} && value[1] >= std::byte{2} &&
         value[1] <= std::byte{5} && value.back() == std::byte{'.'};
}

}  // namespace feedline::detail
