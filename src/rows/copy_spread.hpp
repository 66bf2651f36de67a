#pragma once

#include <cstddef>

namespace feedline::detail {

/// Copies elements that lie at equal distances, one after the other. Neither side need be aligned.
/// @param stride In bytes; 0 repeats one element.
void copy_spread(const std::byte* from, std::size_t stride, std::size_t count,
                 std::size_t element_bytes, std::byte* out) noexcept;

}  // namespace feedline::detail
