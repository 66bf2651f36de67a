#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "dataset/rows_dataset.hpp"

#include <memory>
#include <vector>

namespace feedline::detail {

/// The blocks of a dataset of these fields. They are those of the field whose blocks take the most
/// bytes; fields with the same number of rows a block come as they are stored, the others as rows.
/// If no field is stored in blocks, each row is a block, without steps, if rows lie in files that
/// devices may read. Null if there are no such rows either, or if a field's block would take 4 GiB
/// or more.
/// @param fields At least one, of equal numbers of rows.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_encoded_fields(
    std::vector<rows_field> fields);

}  // namespace feedline::detail
