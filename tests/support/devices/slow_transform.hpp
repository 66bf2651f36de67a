#pragma once

#include <feedline/device/assembly.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::test {

/// What a conversion makes of a row, worked out element by element from what `field_transform` and
/// `field_conversion` say, in double precision: the oracle for `transform_row`.
[[nodiscard]] std::vector<std::byte> slow_transform(const field_conversion& conversion,
                                                    std::span<const std::byte> row,
                                                    std::uint32_t random_bits);

}  // namespace feedline::test
