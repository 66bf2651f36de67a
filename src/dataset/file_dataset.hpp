#pragma once

#include <feedline/dataset/dataset.hpp>

#include "rows/file_rows.hpp"

#include <vector>

namespace feedline::detail {

/// A field whose values lie in a file.
struct file_rows_field {
  field spec;
  file_rows rows;
};

/// A dataset of rows that lie in files, one or more fields a file. Reads run in parallel, with no
/// lock; each ends with a look whether its files are unchanged.
/// @param fields At least one, names distinct, of equal numbers of rows.
/// @throws usage_error, dataset_error as `make_memory_dataset`.
[[nodiscard]] dataset_ptr make_file_dataset(std::vector<file_rows_field> fields);

}  // namespace feedline::detail
