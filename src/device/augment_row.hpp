#pragma once

#include <feedline/backend/assembly.hpp>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// `transform_row` for a conversion that computes pixels.
void augment_row(const field_conversion& conversion, const std::byte* row,
                 std::uint32_t random_bits, std::byte* out) noexcept;

}  // namespace feedline::detail
