#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Selects samples of a dataset, in the given order; a sample may be selected twice.
/// @throws usage_error if an index is not in the dataset, naming it.
[[nodiscard]] dataset_ptr subset(dataset_ptr of, std::vector<sample_index> samples);

/// Selects the samples [first, first + count) of a dataset.
/// @throws usage_error if they are not all in the dataset.
[[nodiscard]] dataset_ptr subset(dataset_ptr of, sample_index first, std::uint64_t count);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
