#pragma once

#include "formats/zarr/array.hpp"
#include "formats/zarr/stores/store.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The number of elements of a grid; the largest number if it does not fit.
[[nodiscard]] std::uint64_t elements_of_grid(std::span<const std::uint64_t> grid) noexcept;
/// Where an element is in a grid. @param number In C order.
[[nodiscard]] std::vector<std::uint64_t> grid_coordinates(std::uint64_t number,
                                                          std::span<const std::uint64_t> grid);

/// The objects of a store that hold an array's values: a chunk each, or a shard. Constant once
/// made; any number of threads.
class zarr_objects {
 public:
  using numbers = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  ///< number and bytes

  /// @param store Outlives it. @param array The same.
  zarr_objects(const zarr_store& store, const zarr_array& array);

  /// Number of objects along each axis.
  [[nodiscard]] std::span<const std::uint64_t> grid() const noexcept { return grid_; }
  /// Key of the object at these coordinates of the grid.
  [[nodiscard]] std::string key_at(std::span<const std::uint64_t> coordinates) const;
  /// Finds those that there are, by lists of the store, or by asking for each one.
  /// @throws dataset_error: too many to ask for each one.
  [[nodiscard]] numbers find() const;

 private:
  void search(const std::string& folder, std::size_t axis, std::uint64_t number,
              numbers& found) const;
  [[nodiscard]] bool number_of(const std::string& name, std::size_t axis,
                               std::uint64_t& number) const;

  const zarr_store& store_;
  const zarr_array& array_;
  std::vector<std::uint64_t> grid_ = {};
};

}  // namespace feedline::detail
