#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A NumPy file that becomes a field.
struct npy_field {
  std::string file;
  std::string name;  ///< of the field
};

/// Opens one `.npy` file as a dataset with one field: the array's first dimension counts the
/// samples.
///
/// Format versions 1.0, 2.0 and 3.0; bool, integers of 8 to 64 bits, float16, float32, float64;
/// values of the other byte order are converted as they are read. Bytes of a bool array are handed
/// on as they are, also those that are neither 0 nor 1. What follows the array is not read, as
/// numpy.load does not read it; the log warns of it.
///
/// An array in C order is read from the file, mapped or not (`map_files`), with no lock and no
/// memory of its own. One in Fortran order, whose samples lie scattered over the whole file, is
/// transposed into memory at opening, on all cores: it takes as many bytes as the array for the
/// dataset's life.
/// @throws dataset_error naming file, field and byte: unreadable, not NumPy's, cut short,
///         a damaged header, zero samples, a single number, types without an element_type (complex,
///         long double, strings, dates, records, objects, raw bytes), no memory to transpose into.
[[nodiscard]] dataset_ptr open_npy(const std::string& file, std::string field_name);

/// Opens several `.npy` files that share their first dimension: a sample is a row of each.
/// Otherwise as above.
/// @throws usage_error if there is no file, or two fields have one name.
[[nodiscard]] dataset_ptr open_npy(const std::vector<npy_field>& fields);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
