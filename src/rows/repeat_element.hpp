#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace feedline::detail {

/// Fills memory with one element, over and over; takes no memory of its own, however much is filled.
/// @param element Not empty. @param out Of whole elements.
inline void repeat_element(std::span<const std::byte> element, std::span<std::byte> out) noexcept {
  constexpr std::size_t copied_bytes = 4096;  // at once, which stay in the nearest cache
  if (out.empty()) return;
  std::memcpy(out.data(), element.data(), element.size());
  std::size_t done = element.size();
  while (done < out.size()) {
    // What is copied from the front is of whole elements.
    const std::size_t most =
        std::max(copied_bytes / element.size(), std::size_t{1}) * element.size();
    const std::size_t bytes = std::min({done, most, out.size() - done});
    std::memcpy(out.data() + done, out.data(), bytes);
    done += bytes;
  }
}

}  // namespace feedline::detail
