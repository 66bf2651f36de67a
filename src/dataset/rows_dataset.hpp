#pragma once

#include <feedline/dataset/memory_dataset.hpp>

#include "dataset/encoded_rows.hpp"
#include "rows/field_rows.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A field of a dataset, and where its rows come from.
struct rows_field {
  field spec;
  std::shared_ptr<const field_rows> rows;
  std::shared_ptr<const encoded_rows> encoded = nullptr;  ///< the same rows, if they are stored so
};

/// A dataset of fields' rows. Reads run in parallel, without a lock; each ends with a check that
/// the rows' files are unchanged.
/// @param who    Begins messages: "file dataset".
/// @param fields At least one, with distinct names and equal numbers of rows.
/// @throws usage_error, dataset_error like `make_memory_dataset`.
[[nodiscard]] dataset_ptr make_rows_dataset(std::string_view who, std::vector<rows_field> fields);

/// @throws usage_error if the bytes are not a whole number of samples.
[[nodiscard]] rows_field rows_in_memory(memory_field column);

}  // namespace feedline::detail
