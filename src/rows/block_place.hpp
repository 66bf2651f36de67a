#pragma once

#include "detail/divider.hpp"

#include <algorithm>
#include <cstdint>

namespace feedline::detail {

/// Finds the block of a row, and the row's index in it: a division for each row that is read, so it
/// uses a product and a shift if there are few enough rows.
class block_place {
 public:
  /// @param rows All of them. @param rows_per_block At least 1.
  block_place(std::uint64_t rows, std::uint64_t rows_per_block) noexcept
      : rows_per_block_{rows_per_block}, small_{std::max(rows, rows_per_block) <= divider::limit} {
    if (small_) divider_ = divider{static_cast<std::uint32_t>(rows_per_block)};
  }

  [[nodiscard]] std::uint64_t block_of(std::uint64_t row) const noexcept {
    return small_ ? divider_.quotient(static_cast<std::uint32_t>(row)) : row / rows_per_block_;
  }
  /// @param block The row's.
  [[nodiscard]] std::uint64_t place_in(std::uint64_t block, std::uint64_t row) const noexcept {
    return row - block * rows_per_block_;
  }
  [[nodiscard]] std::uint64_t rows_per_block() const noexcept { return rows_per_block_; }

 private:
  std::uint64_t rows_per_block_;
  bool small_;
  divider divider_ = {};
};

}  // namespace feedline::detail
