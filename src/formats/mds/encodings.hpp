#pragma once

#include "formats/columns/column.hpp"

#include <string>

namespace feedline::detail {

/// A column with an encoding of MDS, such as "int", "ndarray:uint8:3,4" or "jpeg". One that
/// feedline cannot read has `left_out`.
[[nodiscard]] stored_column mds_column(const std::string& name, const std::string& encoding);

}  // namespace feedline::detail
