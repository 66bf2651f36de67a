#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A NumPy file that is opened as a field.
struct npy_field {
  std::string file;
  std::string name;  ///< name of the field
};

/// Opens one `.npy` file as a dataset with one field. The array's first dimension is the number of
/// samples.
///
/// Supports format versions 1.0, 2.0 and 3.0; bool, integers of 8 to 64 bits, float16, float32 and
/// float64, bfloat16 of the package ml_dtypes, which NumPy writes as raw values of 2 bytes, and
/// complex numbers, whose elements are pairs (real, imaginary): the last extent of the shape is 2.
/// Values of the other byte order are converted while they are read. Bytes of a bool array are
/// passed on unchanged, including those that are neither 0 nor 1. Data after the array is not
/// read, as in numpy.load; the log warns of it.
///
/// An array in C order is read directly from the file, mapped or not (`map_files`), without a lock
/// and without extra memory. An array in Fortran order has its samples scattered over the whole
/// file. It is transposed into memory at opening, on all cores, and takes as many bytes as the
/// array for the dataset's life.
/// @throws dataset_error naming file, field and byte: unreadable, not a NumPy file, cut short, a
/// damaged header, zero samples, a single number, types without an element_type (long double,
/// strings, records, objects, raw bytes), complex numbers in Fortran order, not enough
/// memory to transpose.
[[nodiscard]] dataset_ptr open_npy(const std::string& file, std::string field_name);

/// Opens several `.npy` files with the same first dimension: a sample has one row of each.
/// Otherwise as above.
/// @throws usage_error if there is no file, or two fields have the same name.
[[nodiscard]] dataset_ptr open_npy(const std::vector<npy_field>& fields);

/// Opens a `.npy` file as an array of N dimensions, for `make_windows`. Boxes are read directly
/// from the file, mapped or not (`map_files`), in either order of the dimensions: an array in
/// Fortran order is not transposed.
/// @param name Name of the array. @param dimensions Names of its dimensions; empty: it has none.
/// @throws dataset_error as `open_npy`. @throws usage_error as `rename_array`.
[[nodiscard]] array_ptr open_npy_array(const std::string& file, std::string name,
                                       std::vector<std::string> dimensions = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
