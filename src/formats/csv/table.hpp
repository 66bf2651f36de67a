#pragma once

#include <feedline/formats/csv.hpp>

#include "formats/table/open_table.hpp"

#include <vector>

namespace feedline::detail {

/// @throws as `open_csv`.
[[nodiscard]] opened_table open_csv_table(const std::vector<byte_file_ptr>& stored,
                                          const csv_options& options);

}  // namespace feedline::detail
