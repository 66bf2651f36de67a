#pragma once

#include "support/files/temporary_directory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>
#include <parquet/properties.h>

/// Parquet files, written by Arrow.

namespace feedline::test::parquet_files {

using column = std::pair<std::string, std::shared_ptr<arrow::Array>>;

inline std::shared_ptr<arrow::Array> finished(arrow::ArrayBuilder& of) {
  std::shared_ptr<arrow::Array> made;
  PARQUET_THROW_NOT_OK(of.Finish(&made));
  return made;
}

/// @tparam Builder Builds numbers, texts or bytes. Empty values are nulls.
template <class Builder, class Value>
std::shared_ptr<arrow::Array> array_of(const std::vector<std::optional<Value>>& values) {
  Builder builder;
  for (const auto& each : values)
    PARQUET_THROW_NOT_OK(each ? builder.Append(*each) : builder.AppendNull());
  return finished(builder);
}

/// Lists of numbers. @tparam Builder Builds the numbers.
template <class Builder, class Value>
std::shared_ptr<arrow::Array> lists_of(const std::vector<std::vector<Value>>& values) {
  auto numbers = std::make_shared<Builder>();
  arrow::ListBuilder builder{arrow::default_memory_pool(), numbers};
  for (const auto& each : values) {
    PARQUET_THROW_NOT_OK(builder.Append());
    for (const Value one : each) PARQUET_THROW_NOT_OK(numbers->Append(one));
  }
  return finished(builder);
}

/// Images in the form that Hugging Face's Hub gives them: struct{bytes, path}.
inline std::shared_ptr<arrow::Array> hub_images(const std::vector<std::vector<std::byte>>& files) {
  arrow::BinaryBuilder bytes;
  arrow::StringBuilder paths;
  for (const auto& each : files) {
    PARQUET_THROW_NOT_OK(bytes.Append(reinterpret_cast<const std::uint8_t*>(each.data()),
                                      static_cast<std::int32_t>(each.size())));
    PARQUET_THROW_NOT_OK(paths.Append("a.jpg"));
  }
  return arrow::StructArray::Make({finished(bytes), finished(paths)},
                                  std::vector<std::string>{"bytes", "path"})
      .ValueOrDie();
}

/// A file of these columns. @param group_rows Rows of each row group but the last.
/// @param hub Metadata under the key of Hugging Face's `datasets`; empty: none.
inline std::vector<std::byte> file_of(const std::vector<column>& columns, std::int64_t group_rows,
                                      bool with_statistics = true, const std::string& hub = {},
                                      bool with_checksums = false) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  const auto more = hub.empty() ? nullptr : arrow::key_value_metadata({"huggingface"}, {hub});
  const auto table = arrow::Table::Make(arrow::schema(fields, more), arrays);
  const auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  parquet::WriterProperties::Builder how;
  if (with_checksums) how.enable_page_checksum();
  if (!with_statistics) how.disable_statistics();
  PARQUET_THROW_NOT_OK(parquet::arrow::WriteTable(
      *table, arrow::default_memory_pool(), out, group_rows, how.build(),
      parquet::ArrowWriterProperties::Builder{}.store_schema()->build()));
  const auto buffer = out->Finish().ValueOrDie();
  const auto bytes =
      std::as_bytes(std::span{buffer->data(), static_cast<std::size_t>(buffer->size())});
  return {bytes.begin(), bytes.end()};
}

}  // namespace feedline::test::parquet_files
