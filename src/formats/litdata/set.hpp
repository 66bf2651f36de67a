#pragma once

#include "formats/columns/dataset.hpp"
#include "formats/columns/shards.hpp"

#include <string>
#include <vector>

namespace feedline::detail {

/// A set as its index describes it.
struct litdata_index {
  std::vector<described_shard> chunks;
  record_layout layout;
  bool is_batched = false;  ///< records are compressed in batches
};

/// Parses the text of an index.json. @throws dataset_error naming the index and the chunk.
[[nodiscard]] litdata_index read_litdata_index(const std::string& text, const std::string& path);

/// The records of folders, one after the other. @throws as `open_litdata`.
[[nodiscard]] columned_records open_litdata_records(const std::vector<std::string>& folders,
                                                    const shard_options& options);

}  // namespace feedline::detail
