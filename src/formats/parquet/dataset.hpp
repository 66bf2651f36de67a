#pragma once

#include "formats/parquet/source.hpp"

namespace feedline::detail {

/// The dataset of a source's columns. @throws as `open_parquet`.
[[nodiscard]] dataset_ptr make_parquet_dataset(parquet_source_ptr source,
                                               const parquet_options& options);

}  // namespace feedline::detail
