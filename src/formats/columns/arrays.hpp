#pragma once

#include "formats/columns/column.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Takes bytes from the front of a value. @throws dataset_error without a location if it has less.
[[nodiscard]] std::span<const std::byte> take_head(std::span<const std::byte>& from,
                                                   std::size_t bytes);

/// Refuses a rank of more than `max_array_rank`. @throws dataset_error without a location
void require_rank(std::uint64_t rank);

/// The elements that a shape has; the largest number if they are more.
[[nodiscard]] std::uint64_t count_elements_of(std::span<const std::uint64_t> shape) noexcept;

/// Compares the size of an array's elements with its shape.
/// @throws dataset_error without a location if they differ.
void require_all_elements(const stored_array& of);

/// An image of Pillow as MDS and LitData store it: width, height, and the length of the mode, in 4
/// bytes each; the mode; the pixels.
array_reader read_pil_array;

}  // namespace feedline::detail
