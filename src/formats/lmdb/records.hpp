#pragma once

#include <feedline/formats/lmdb.hpp>
#include <feedline/formats/open.hpp>

#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <string>
#include <vector>

namespace feedline::detail {

/// Records of one name: "value", or NAME of keys NAME-NUMBER.
struct lmdb_group {
  std::string name;
  coded_values_ptr records;
};

struct lmdb_records {
  std::vector<lmdb_group> groups;     ///< at least one; all of one size
  std::vector<std::string> left_out;  ///< keys that describe the set
};

/// The records of files, one after the other. @throws as `open_lmdb`.
[[nodiscard]] lmdb_records open_lmdb_records(const std::vector<byte_file_ptr>& files,
                                             const std::string& database);
/// Opens the files of environments. @throws usage_error if there is no path.
[[nodiscard]] std::vector<byte_file_ptr> open_lmdb_files(const std::vector<std::string>& paths);

/// The dataset of records. @throws as `open_lmdb`.
[[nodiscard]] dataset_ptr make_lmdb_dataset(const lmdb_records& of, const lmdb_options& options);
[[nodiscard]] std::vector<listed_field> list_lmdb_records(const lmdb_records& of,
                                                          const lmdb_options& options);

}  // namespace feedline::detail
