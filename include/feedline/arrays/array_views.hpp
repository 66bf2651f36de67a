#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Arrays that are made of others. None copies values: each passes reads on.

/// The same array under another name, or with other names of its dimensions.
/// @param name Empty: unchanged. @param dimensions One for each dimension; the array's coordinates
/// are forgotten, so that it can be used beside arrays of others. Empty: unchanged.
/// @throws usage_error if they are not as many as the dimensions, or two have the same name.
[[nodiscard]] array_ptr rename_array(array_ptr array, std::string name,
                                     std::vector<std::string> dimensions = {});

/// Some indices along an axis, in the given order, such as levels of the atmosphere.
/// @param indices At least one; may repeat.
/// @throws usage_error if there is no such axis or index.
[[nodiscard]] array_ptr choose_along(array_ptr array, const array_axis& axis,
                                     std::vector<std::uint64_t> indices);

/// Arrays one after the other along an axis that they have, such as the files of several years. All
/// other extents, the types, the packing and the coordinates along other axes are equal: `unpack`
/// arrays first that are packed differently.
/// @param parts At least one.
/// @throws usage_error naming the parts that differ.
[[nodiscard]] array_ptr concatenate_arrays(std::vector<array_ptr> parts, const array_axis& axis);

/// How `unpack` makes numbers.
struct unpack_options {
  /// F32 or f64; empty: the type that xarray chooses. A value is computed in the type that xarray
  /// chooses, and rounded to this one.
  std::optional<element_type> type = {};
  /// Stands for missing values, and for each NaN of the file.
  double missing = std::numeric_limits<double>::quiet_NaN();
};

/// The numbers that stored numbers stand for: those that equal `_FillValue` or `missing_value` are
/// missing, the others become stored × scale_factor + add_offset. Types and rounding are those of
/// xarray's `open_dataset`, except that an integer scale_factor gives f64. Without attributes, the
/// values are converted. Source: CF Conventions 1.11, sections 2.5.1 and 8.1; xarray
/// `coding/variables.py`.
///
/// Values are computed by the thread that reads, in pieces of 64 Ki elements.
/// @throws usage_error if the values are booleans, or the type is neither f32 nor f64.
[[nodiscard]] array_ptr unpack(array_ptr array, const unpack_options& options = {});

/// Rule of `standardize` for NaN.
enum class nan_rule : std::uint8_t {
  keep,     ///< NaN stays
  replace,  ///< becomes `standardize_options::replacement`
  refuse,   ///< reading throws a dataset_error, as for samples that cannot be read
};

/// How `standardize` makes values.
struct standardize_options {
  std::vector<double> mean = {};    ///< one for each index of `axis`, or one for all; empty: 0
  std::vector<double> stddev = {};  ///< the same; each above 0; empty: 1
  /// Axis of the channels that have a mean and a deviation each, such as "level". Empty: all values
  /// have the same.
  std::optional<array_axis> axis = {};
  element_type type = element_type::f32;  ///< f32 or f64
  nan_rule nan = nan_rule::keep;
  double replacement = 0;  ///< standardized value for NaN; 0 is the mean
};

/// Values less the mean, divided by the deviation: (value − mean) ÷ stddev in binary64, rounded to
/// the type. `read_numbers` (`feedline/formats/numbers.hpp`) reads means and deviations from files.
///
///     auto level = standardize(unpack(t), {.mean = read_numbers("stats.npz", "t_mean"),
///                                          .stddev = read_numbers("stats.npz", "t_std"),
///                                          .axis = "level"});
///
/// Values are computed by the thread that reads, in pieces of 64 Ki elements. A loader's transforms
/// do the same on the device for images, and for fields with one mean.
/// @throws usage_error: no such axis, as many means or deviations as the axis has no indices,
/// several without an axis, one that is not finite, a deviation that is not above 0, booleans,
/// numbers that are packed or that attributes mark as missing (`unpack` them first), a type that is
/// neither f32 nor f64.
[[nodiscard]] array_ptr standardize(array_ptr array, const standardize_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
