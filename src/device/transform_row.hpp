#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/dataset/field.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// Turns one row of a dataset into one row of a batch, on the CPU: the reference for every device,
/// and the function that the host's readers call.
/// @param random_bits The sample's u32 (`sample_random_bits`); unused unless the conversion is
///                    random.
void transform_row(const field_conversion& conversion, const std::byte* row, std::size_t row_bytes,
                   std::uint32_t random_bits, std::byte* out) noexcept;

/// The conversion of a field in a batch whose images have this size. @param of The batch's field.
/// @param size Empty: they have the size that the conversion has.
[[nodiscard]] inline field_conversion sized_conversion(
    const field& of, field_conversion conversion, const std::optional<image_size>& size) noexcept {
  if (!size || !of.by_batch) return conversion;
  conversion.height = conversion.to_height = size->height;
  conversion.width = conversion.to_width = size->width;
  return conversion;
}

}  // namespace feedline::detail
