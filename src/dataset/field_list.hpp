#pragma once

#include <feedline/dataset/field.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Checks that fields can be a dataset's: at least one, names distinct, a sample of each some
/// bytes.
/// @param who Begins the message: "map".
/// @return Bytes of one sample of each field.
/// @throws usage_error naming the field at fault.
std::vector<std::size_t> checked_row_bytes(std::string_view who, std::span<const field> fields);

}  // namespace feedline::detail
