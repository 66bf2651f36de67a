#pragma once

#include <feedline/arrays/windows.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// How far the fields' windows reach from a position: from its element `first` to `last`.
struct window_reach {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The positions of windows along one axis, numbered from 0 in the order of the axis.
class window_positions {
 public:
  /// @param named The axis, for errors. @param extent Extent of the axis in all arrays, at least 1.
  /// @throws usage_error if the stride is 0, an excluded range is not within the axis, or there is
  /// no position.
  window_positions(const window& along, const std::string& named, std::uint64_t extent,
                   const window_reach& reach);

  [[nodiscard]] std::uint64_t count() const noexcept { return ends_.back(); }
  /// @param number Less than `count()`. @return Index of the position along the axis.
  [[nodiscard]] std::int64_t operator[](std::uint64_t number) const noexcept;

 private:
  std::int64_t first_ = 0;  ///< position that all others are multiples of the stride from
  std::uint64_t stride_;
  std::vector<std::uint64_t> begins_ = {};  ///< number on the grid of each run's first position
  std::vector<std::uint64_t> ends_ = {};    ///< count of all positions up to each run's end
};

}  // namespace feedline::detail
