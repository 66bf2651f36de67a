#pragma once

#include "formats/columns/dataset.hpp"
#include "formats/columns/shards.hpp"

#include <string>
#include <vector>

namespace feedline::detail {

/// A set as its index describes it.
struct mds_index {
  std::vector<described_shard> shards;
  record_layout layout;
};

/// Parses the text of an index.json. Looks whether shards that are compressed are there
/// uncompressed, too.
/// @throws dataset_error naming the index and the shard.
[[nodiscard]] mds_index read_mds_index(const std::string& text, const std::string& path);

/// The records of folders, one after the other. @throws as `open_mds`.
[[nodiscard]] columned_records open_mds_records(const std::vector<std::string>& folders,
                                                const shard_options& options);

}  // namespace feedline::detail
