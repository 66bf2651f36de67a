#pragma once

#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Shards of records with offsets, as MDS and LitData have them, written number by number.

namespace feedline::test {

/// A record of values: the sizes of those that have no fixed one, then all values.
[[nodiscard]] inline byte_vector sized_record(const std::vector<byte_vector>& fixed_or_sized,
                                              const std::vector<bool>& is_sized) {
  byte_vector record;
  for (std::size_t i = 0; i < is_sized.size(); ++i)
    if (is_sized[i])
      record = joined({record, memory_of<std::uint32_t>(
                                   {static_cast<std::uint32_t>(fixed_or_sized[i].size())})});
  return joined({record, joined(fixed_or_sized)});
}

/// A shard: the number of records, their offsets, the records. @param gap Bytes after the offsets.
[[nodiscard]] inline byte_vector offset_shard(const std::vector<byte_vector>& records,
                                              std::size_t gap = 0) {
  std::vector<std::uint32_t> table{static_cast<std::uint32_t>(records.size())};
  auto at = static_cast<std::uint32_t>(4 * (records.size() + 2) + gap);
  table.push_back(at);
  for (const byte_vector& each : records)
    table.push_back(at += static_cast<std::uint32_t>(each.size()));
  return joined({memory_of(table), byte_vector(gap, std::byte{'{'}), joined(records)});
}

/// A column of an MDS index. @param bytes "null": values have any size.
struct mds_column_text {
  std::string name;
  std::string encoding;
  std::string bytes;
};

/// The index's entry of a shard.
[[nodiscard]] inline std::string mds_shard_text(const std::vector<mds_column_text>& columns,
                                                const std::string& file, std::size_t bytes,
                                                std::size_t samples) {
  std::string names;
  std::string encodings;
  std::string sizes;
  for (const mds_column_text& each : columns) {
    const std::string comma = names.empty() ? "" : ", ";
    names += comma + '"' + each.name + '"';
    encodings += comma + '"' + each.encoding + '"';
    sizes += comma + each.bytes;
  }
  return R"({"column_encodings": [)" + encodings + R"(], "column_names": [)" + names +
         R"(], "column_sizes": [)" + sizes +
         R"(], "compression": null, "format": "mds", "hashes": [], "raw_data": {"basename": ")" +
         file + R"(", "bytes": )" + std::to_string(bytes) + R"(, "hashes": {}}, "samples": )" +
         std::to_string(samples) + R"(, "size_limit": 67108864, "version": 2, "zip_data": null})";
}

[[nodiscard]] inline std::string mds_index_text(const std::vector<std::string>& shards) {
  std::string text;
  for (const std::string& each : shards) text += (text.empty() ? "" : ", ") + each;
  return R"({"shards": [)" + text + R"(], "version": 2})";
}

}  // namespace feedline::test
