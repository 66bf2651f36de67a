#pragma once

#include <string>
#include <vector>

namespace feedline::detail {

/// Whether a folder, or `data` within it, holds Parquet files, and is no table that names those of
/// its files that count (Delta, Iceberg).
[[nodiscard]] bool is_parquet_folder(const std::string& path);

/// The Parquet files of such a folder, sorted by their names; hidden ones and those whose names
/// begin with `_` do not count.
/// @throws dataset_error if they are of several splits.
[[nodiscard]] std::vector<std::string> parquet_files_in(const std::string& folder);

}  // namespace feedline::detail
