#pragma once

#include "formats/columns/column.hpp"

#include <string>

namespace feedline::detail {

/// A leaf that a serializer of LitData stored, such as "int", "no_header_tensor:17" or "jpeg".
/// One that feedline cannot read has `left_out`.
[[nodiscard]] stored_column litdata_column(const std::string& name, const std::string& serializer);

}  // namespace feedline::detail
