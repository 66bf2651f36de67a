#pragma once

#include <feedline/dataset/element_type.hpp>

#include "detail/known_value.hpp"

#include <string_view>

namespace feedline::detail {

/// @param option Names the option with the type. @throws usage_error if it is not a type of
/// elements.
inline void require_known_type(std::string_view option, element_type type) {
  require_known(option, type,
                {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64",
                 "boolean"});
}

}  // namespace feedline::detail
