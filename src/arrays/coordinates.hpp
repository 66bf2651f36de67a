#pragma once

#include <feedline/arrays/array_source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The values of a dimension scale, which are read when they are first compared.
class stored_coordinates {
 public:
  /// @param where Names it: "era5.nc: /time". @param units Attribute `units`; "": none.
  /// @param read Reads the values.
  stored_coordinates(std::string where, std::string units,
                     std::function<std::vector<double>()> read)
      : where_{std::move(where)}, units_{std::move(units)}, read_{std::move(read)} {}

  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& units() const noexcept { return units_; }
  /// Any number of threads. Empty if they cannot be read; a warning says so once.
  [[nodiscard]] const std::vector<double>& values() const;

 private:
  const std::string where_;
  const std::string units_;
  const std::function<std::vector<double>()> read_;
  mutable std::once_flag once_;
  mutable std::vector<double> values_ = {};
};

/// The coordinates along a dimension of an array, such as times: those of a scale, some of them, or
/// those of several files one after the other.
class axis_coordinates {
 public:
  axis_coordinates(std::shared_ptr<const stored_coordinates> of, std::uint64_t count);

  [[nodiscard]] std::shared_ptr<const axis_coordinates> choose(
      std::span<const std::uint64_t> indices) const;
  /// @return Null if one of them is.
  [[nodiscard]] static std::shared_ptr<const axis_coordinates> join(
      std::span<const std::shared_ptr<const axis_coordinates>> parts);

  /// How two differ, in words; empty if they do not, or have different numbers of elements. Values
  /// are equal if they differ by less than a thousandth of the distance between neighbours, so that
  /// types and rounding do not matter. Units differ if both have other ones. More than 4 Mi
  /// elements are not compared.
  [[nodiscard]] std::string difference(const axis_coordinates& other) const;

 private:
  struct run {
    std::shared_ptr<const stored_coordinates> of;
    std::uint64_t count;
    std::vector<std::uint64_t> indices = {};  ///< empty: 0, 1, …

    [[nodiscard]] std::uint64_t index(std::uint64_t at) const {
      return indices.empty() ? at : indices[static_cast<std::size_t>(at)];
    }

    friend bool operator==(const run&, const run&) = default;
  };
  struct element {
    double value;
    const stored_coordinates* of;
  };

  axis_coordinates() = default;
  [[nodiscard]] std::uint64_t size() const noexcept;
  /// Empty if some cannot be read.
  [[nodiscard]] std::vector<element> elements() const;

  std::vector<run> runs_ = {};
};

/// How the coordinates along axes of two arrays differ; empty if they do not, or if one array has
/// none.
[[nodiscard]] std::string coordinate_difference(const array_spec& a, std::size_t axis_of_a,
                                                const array_spec& b, std::size_t axis_of_b);
/// An array's axis by its name, or by its number if it has none.
[[nodiscard]] array_axis axis_at(const array_spec& spec, std::size_t number);

inline constexpr const char* coordinate_remedy =
    "Use arrays of one grid; if they belong together anyway, rename_array with the names of "
    "the dimensions makes an array without coordinates";

}  // namespace feedline::detail
