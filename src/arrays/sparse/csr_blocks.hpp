#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "arrays/sparse/csr_matrix.hpp"

#include <memory>

namespace feedline::detail {

/// The rows of a sparse matrix, for devices that make them dense. If both arrays are in chunks that
/// devices may decode, these are `window_blocks`: the device cuts a row's values and columns out of
/// decoded chunks. Users who do not know that class read blocks that hold values and columns.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_csr_blocks(
    std::shared_ptr<const csr_matrix> matrix);

}  // namespace feedline::detail
