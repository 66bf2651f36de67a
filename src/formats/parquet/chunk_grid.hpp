#pragma once

#include "formats/parquet/source.hpp"

#include <cstddef>
#include <vector>

namespace feedline::detail {

/// Row groups as the chunks of an order, which have one size. Where row groups do not, a chunk has
/// the rows of several, so that few of them are at the border of two chunks.
[[nodiscard]] chunking find_chunking(const parquet_source& of,
                                     const std::vector<std::size_t>& columns);

}  // namespace feedline::detail
