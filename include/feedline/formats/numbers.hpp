#pragma once

#include <feedline/export.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Reads the numbers of an array or a JSON file whole, row-major, such as means and deviations that
/// `standardize` and `field_transform` take. Target `feedline::formats`.
///
///     auto mean = read_numbers("global_means.npy");      // [1, 73, 1, 1]: 73 numbers
///     auto level = read_numbers("stats.nc", "t_mean");   // a variable of an HDF5 or NetCDF4 file
///     auto stddev = read_numbers("stats.json", "t2m/stddev");
///
/// @param file `.npy`: `name` is not used. `.npz`: the member `name`. HDF5, NetCDF4 and Zarr: the
/// path `name`, unpacked if it is packed (`unpack`). The fill value of Zarr 2 alone makes no number
/// missing. JSON, a file that begins with "{" or "[": the keys that lead to a number or to a list,
/// with "/" between them; lists within lists follow each other. Empty: the whole file is the array
/// or value.
/// @return At least one number.
/// @throws dataset_error naming file and name: not of these formats, no such array or key, not
/// numbers, none, more than 16 Mi numbers or 64 MiB of JSON, and all errors of the format's reader.
[[nodiscard]] std::vector<double> read_numbers(const std::string& file,
                                               const std::string& name = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
