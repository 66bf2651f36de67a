#pragma once

#include <feedline/device/assembly.hpp>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// What a thread loads or stores at once, at most.
inline constexpr std::size_t widest_vector = 16;

/// The largest power of two that divides all that was or-ed together, up to a vector's bytes.
inline std::size_t common_alignment(std::size_t ored) noexcept {
  const std::size_t all = ored | widest_vector;
  return all & (~all + 1);
}
inline std::size_t address(const void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory);
}
/// Of the dataset's rows, kept and arrived.
inline std::size_t source_alignment(const assembly& work, const field_assembly& field) noexcept {
  return common_alignment(address(field.cached) | address(work.landing_buffer) | field.row_bytes);
}
/// Of the batch's rows.
inline std::size_t target_alignment(const assembly& work, const field_assembly& field) noexcept {
  return common_alignment(address(work.slot) | field.to_offset | work.batch_bytes |
                          field.to_row_bytes);
}

}  // namespace feedline::detail
