#pragma once

#include <feedline/dataset/dataset.hpp>

#include <string>
#include <vector>

namespace feedline::detail {

/// A dataset with some of another's fields, in the order given; with no names, the other itself.
/// @throws usage_error if there is no such field, or one is named twice.
[[nodiscard]] dataset_ptr choose_fields(dataset_ptr of, const std::vector<std::string>& names);

}  // namespace feedline::detail
