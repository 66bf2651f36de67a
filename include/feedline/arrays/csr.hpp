#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A sparse matrix by rows: row i has the values data[p] in columns indices[p], for p in
/// [indptr[i], indptr[i + 1]).
struct csr_arrays {
  array_ptr data;         ///< one dimension
  array_ptr indices;      ///< integers, as many as the data
  array_ptr indptr;       ///< integers, one more than there are rows
  std::uint64_t columns;  ///< number of the matrix's columns
};

/// A dataset whose samples are the dense rows of a sparse matrix, in the type of its values.
/// Several values of one column are added, as by SciPy. Readers fetch the values of a request by
/// one read of each array, and scatter them into zeros. A device that decodes blocks does the
/// latter with `decode_on::automatic` if rows are sparse enough; with `decode_on::device` it also
/// decodes the chunks of both arrays, if it can. `indptr` is read whole at opening, and takes 8
/// bytes a row.
/// @throws usage_error if the shapes or types do not fit. @throws dataset_error if `indptr`
/// decreases or ends beyond the data; at reading, if a column is beyond the matrix.
[[nodiscard]] dataset_ptr make_csr_dataset(std::string field_name, csr_arrays matrix);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
