#pragma once

#include "formats/open/format_entry.hpp"

#include <span>
#include <string_view>

namespace feedline::detail {

/// All formats; which comes first matters to `may_be` alone.
[[nodiscard]] std::span<const format_entry> format_table();

/// The format with this name; null: there is none.
[[nodiscard]] const format_entry* find_format(std::string_view name);

}  // namespace feedline::detail
