#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include <string>
#include <vector>

#include <parquet/arrow/schema.h>

namespace feedline::detail {

/// A column that can be a field.
struct parquet_column {
  described_field as;        ///< its name is the whole path
  int leaf = -1;             ///< number among Parquet's own columns
  bool is_bytes = false;     ///< text or bytes, which may be images
  std::string counted = {};  ///< for dates and times: "microseconds"

  friend bool operator==(const parquet_column& a, const parquet_column& b) {
    return a.as.spec == b.as.spec && a.as.is_ragged == b.as.is_ragged && a.counted == b.counted;
  }
};

/// A column that is no field.
struct parquet_left_out {
  std::string name;
  std::string reason;
};

struct parquet_schema {
  std::vector<parquet_column> columns;
  std::vector<parquet_left_out> left_out;
};

/// The fields that columns can be.
[[nodiscard]] parquet_schema read_parquet_schema(const parquet::arrow::SchemaManifest& manifest);

}  // namespace feedline::detail
