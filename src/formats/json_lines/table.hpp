#pragma once

#include "formats/table/open_table.hpp"

#include <vector>

namespace feedline::detail {

/// @throws as `open_json_lines`.
[[nodiscard]] opened_table open_json_table(const std::vector<byte_file_ptr>& stored,
                                           const table_options& options);

}  // namespace feedline::detail
