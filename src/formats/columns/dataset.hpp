#pragma once

#include <feedline/formats/open.hpp>
#include <feedline/formats/shard_options.hpp>
#include <feedline/ragged/dataset.hpp>

#include "formats/columns/column.hpp"
#include "formats/columns/survey.hpp"
#include "ragged/coded_values.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Records whose columns are known.
struct columned_records {
  coded_values_ptr records;
  record_layout layout;
};

/// The dataset of records. @param who Begins messages about options: "open_mds".
/// @throws as `open_mds`.
[[nodiscard]] dataset_ptr make_columns_dataset(std::string_view who, const columned_records& of,
                                               const shard_options& options);
[[nodiscard]] ragged_dataset_ptr make_column_ragged(std::string_view who,
                                                    const columned_records& of,
                                                    const std::string& field,
                                                    const shard_options& options);
/// The fields as they are in records: ragged ones are not padded, so no pass over all records is
/// made.
[[nodiscard]] std::vector<listed_field> list_columns(std::string_view who,
                                                     const columned_records& of,
                                                     const shard_options& options);
/// The options of `open` that shards use.
[[nodiscard]] shard_options shard_options_of(const open_options& options);

}  // namespace feedline::detail
