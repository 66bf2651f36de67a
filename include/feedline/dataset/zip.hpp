#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Datasets of equal size as one: sample i has the fields of sample i of each. So what lies in
/// several places, or was padded by itself, is fed together:
///
///     auto train = feedline::zip({feedline::pad(tokens), labels});
///
/// Its chunks are the largest of the parts'; it is read by one thread at a time if one of them is.
/// @throws usage_error if there is none, one is null, or a field's name is there twice;
///         dataset_error if their sizes differ, naming a field of the first that differs.
[[nodiscard]] dataset_ptr zip(std::vector<dataset_ptr> parts);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
