#pragma once

#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>

#include <string>
#include <vector>

namespace feedline::detail {

/// The columns of a file, as `list_fields` shows them: ragged ones are not padded, so no pass over
/// all rows is made.
/// @param options `fields`, `pad` and `fill_nulls` are not used.
/// @throws as `open_parquet`.
[[nodiscard]] std::vector<listed_field> list_parquet(const std::string& file,
                                                     const parquet_options& options);

}  // namespace feedline::detail
