#pragma once

#include "dataset/encoded_rows.hpp"
#include "hdf5/rows/open_rows.hpp"

#include <memory>

namespace feedline::detail {

/// A field's chunks as they are stored. Null unless each holds several whole rows, as they are in
/// memory, behind filters that feedline undoes. What a chunk of such a field holds that was never
/// written (or has no bytes) comes decoded, with all steps skipped.
/// @param found Its rows are open.
[[nodiscard]] std::shared_ptr<const encoded_rows> make_hdf5_encoded_rows(
    const hdf5_resolved_field& found);

}  // namespace feedline::detail
