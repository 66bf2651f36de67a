#pragma once

#include <feedline/arrays/windows.hpp>

#include "arrays/windows/axis.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::detail {

/// How an array's axis appears in a field.
struct part_axis {
  std::optional<std::size_t> window = {};  ///< index of the window; empty: the whole axis
  std::int64_t offset = 0;                 ///< from the window's position to the first element
  std::uint64_t count = 0;
  std::uint64_t step = 1;
  std::ptrdiff_t stride = 0;  ///< in the field's sample, in bytes
};

/// One array's part of a field.
struct window_part {
  array_ptr array;
  std::size_t field = 0;
  std::size_t first_byte = 0;  ///< in the field's sample
  std::vector<part_axis> axes = {};
  std::vector<std::byte> pad = {};  ///< one element
};

/// All that follows from the arguments of `make_windows`, checked and computed once.
struct window_plan {
  std::vector<window> windows;
  std::vector<window_positions> positions = {};  ///< one for each window
  std::vector<field> fields = {};
  std::vector<std::size_t> field_bytes = {};
  std::vector<window_part> parts = {};  ///< those of one array follow each other
  std::uint64_t draws = 1;
  /// Regions along each window; consecutive draws are in one, and the last window's change fastest.
  std::vector<std::uint64_t> regions = {};
  std::uint64_t samples = 0;
  chunking chunks = {};
};

/// @throws usage_error as `make_windows`.
[[nodiscard]] window_plan plan_windows(std::vector<window> windows,
                                       const std::vector<window_field>& fields,
                                       const window_options& options);

/// One element with this value. @throws usage_error if the type cannot represent it.
[[nodiscard]] std::vector<std::byte> element_of(double value, element_type type,
                                                const std::string& field);

}  // namespace feedline::detail
