#pragma once

#include <feedline/formats/open.hpp>

#include <string>
#include <vector>

namespace feedline::detail {

/// What a `.npy` file's header says of the field. Its elements are not read.
[[nodiscard]] listed_field list_npy(const std::string& file, const std::string& field_name);

/// The arrays of an archive, in its order, by their headers. Those that cannot be read have their reason.
[[nodiscard]] std::vector<listed_field> list_npz(const std::string& file);

}  // namespace feedline::detail
