#pragma once

#include <feedline/dataset/dataset.hpp>

#include <vector>

namespace feedline::detail {

/// Datasets of equal size as one, with the fields of all: a sample is a sample of each.
/// @param parts At least one; names distinct over all.
/// @throws usage_error, dataset_error as `make_memory_dataset`.
[[nodiscard]] dataset_ptr side_by_side(std::vector<dataset_ptr> parts);

}  // namespace feedline::detail
