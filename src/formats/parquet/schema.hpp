#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include "formats/left_out.hpp"

#include <string>
#include <vector>

#include <parquet/arrow/schema.h>
#include <parquet/type_fwd.h>

namespace feedline::detail {

/// A column that can be a field.
struct parquet_column {
  described_field as;        ///< its name is the whole path
  int leaf = -1;             ///< number among Parquet's own columns
  bool is_bytes = false;     ///< text or bytes, which may be images
  std::string counted = {};  ///< for dates and times: "microseconds"

  /// Whether another file's column can follow this one. Names of classes that one of them lacks do
  /// not count.
  [[nodiscard]] bool suits(const parquet_column& other) const;
};

struct parquet_schema {
  std::vector<parquet_column> columns;
  std::vector<left_out_field> left_out;
};

/// The fields that columns can be.
[[nodiscard]] parquet_schema read_parquet_schema(const parquet::arrow::SchemaManifest& manifest);

/// Gives labels the names of their classes, if Hugging Face's `datasets` wrote the file. The log
/// says if its description cannot be read. @param path Names the file.
void name_hub_classes(parquet_schema& schema, const parquet::FileMetaData& metadata,
                      const std::string& path);

}  // namespace feedline::detail
