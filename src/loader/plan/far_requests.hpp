#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstddef>

namespace feedline::detail {

/// About how many bytes a reader should ask for at a time, because of the files that samples are
/// in: some samples' hints are recorded, and nothing is read. 0: the files do not mind, or they are
/// not known, as where a dataset's hints do more than name ranges of files.
[[nodiscard]] std::size_t far_request_bytes(const dataset& of);

}  // namespace feedline::detail
