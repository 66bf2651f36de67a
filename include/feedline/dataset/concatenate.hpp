#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Concatenates datasets. Their fields must be equal: names, types, shapes, order. Names of
/// classes that some parts have count for parts that have none (`field::classes`): their labels
/// must mean these classes.
/// @throws usage_error if there is no dataset, or the fields differ, naming the first difference.
[[nodiscard]] dataset_ptr concatenate(std::vector<dataset_ptr> parts);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
