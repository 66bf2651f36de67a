#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/window_block.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace feedline::detail {

/// Adds values to their columns of a dense row, in their order. Values and columns need not be
/// aligned. @return Index of the first value whose column is beyond the row, or the number of
/// values.
using add_to_row = std::size_t (*)(const std::byte* values, const std::byte* columns,
                                   std::size_t count, std::uint64_t row_columns, std::byte* row);

/// The function for these types; null: values of this type cannot be added. A negative column is
/// too large a number of the unsigned type of its size.
[[nodiscard]] add_to_row adds(const sparse_types& types) noexcept;

/// Makes the row of a block whose step is `block_filter::sparse_row`: the reference for devices.
/// @param bytes_of Gives the numbers of a box that is in a chunk; null: they are missing. Not
/// called for other boxes.
/// @return False if a number is missing, a column is beyond the row, or a box beyond the block.
[[nodiscard]] bool make_dense(const sparse_types& types, std::span<const std::byte> block,
                              const std::function<const std::byte*(const window_box&)>& bytes_of,
                              std::span<std::byte> row);

}  // namespace feedline::detail
