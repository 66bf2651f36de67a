#pragma once

#include <feedline/backend/assembly.hpp>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Turns one row of a dataset into one row of a batch, on the CPU: the reference for every device,
/// and the function that the host's readers call.
/// @param random_bits The sample's u32 (`sample_random_bits`); unused unless the conversion is
///                    random.
void transform_row(const field_conversion& conversion, const std::byte* row, std::size_t row_bytes,
                   std::uint32_t random_bits, std::byte* out) noexcept;

}  // namespace feedline::detail
