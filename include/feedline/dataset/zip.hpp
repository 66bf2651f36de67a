#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Combines datasets of equal size: sample i has the fields of sample i of each. Use it if the
/// fields are stored separately, or if one of them was padded by itself:
///
///     auto train = feedline::zip({feedline::pad(tokens), labels});
///
/// `chunks()` is that of the part with the largest chunks. The result is read by one thread at a
/// time if one of the parts is.
/// @throws usage_error if there is no dataset, one is null, or a field's name occurs twice;
/// dataset_error if sizes differ, naming a field of the first part that differs.
[[nodiscard]] dataset_ptr zip(std::vector<dataset_ptr> parts);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
