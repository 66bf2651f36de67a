#pragma once

#include <feedline/backend/assembly.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::test {

/// Result of a conversion for a row, computed element by element after the comments of
/// `field_transform` and `field_conversion`, in double precision: the oracle for `transform_row`.
[[nodiscard]] std::vector<std::byte> slow_transform(const field_conversion& conversion,
                                                    std::span<const std::byte> row,
                                                    std::uint32_t random_bits);

}  // namespace feedline::test
