#include "formats/parquet/table.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/sample_range.hpp"
#include "detail/text.hpp"
#include "detail/threads.hpp"
#include "formats/parquet/file_input.hpp"
#include "formats/parquet/folder.hpp"
#include "formats/parquet/matched_columns.hpp"
#include "io/file_system.hpp"
#include "rows/row_storage.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <arrow/chunked_array.h>
#include <arrow/memory_pool.h>
#include <arrow/table.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>

namespace feedline::detail {
namespace {

/// Arrow's message, with a way out where an old Arrow is the reason.
std::string message_of(const std::exception& fault) {
  std::string message = printable(fault.what());
  if (message.find("Expected all lists to be of size") != std::string::npos)
    message += "; Arrow " ARROW_VERSION_STRING
               " may be unable to read lists of one size that have nulls: Arrow 26 reads them, so "
               "build with that, or leave the field out (fields)";
  return message;
}

/// Calls a function of Arrow's. @throws dataset_error with the location and Arrow's message.
template <class Call>
auto call_arrow(const dataset_location& where, const std::string& begin, const Call& call) try {
  return call();
} catch (const dataset_error& fault) {
  throw dataset_error{{where.path, where.field, where.sample, fault.offset()},
                      begin + fault.message()};
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& fault) {
  throw dataset_error{where, begin + message_of(fault)};
}

std::unique_ptr<parquet::arrow::FileReader> make_reader(
    const byte_file_ptr& file, const std::shared_ptr<parquet::FileMetaData>& metadata) {
  parquet::ReaderProperties properties;
  properties.set_page_checksum_verification(true);  // if a page has one
  parquet::arrow::FileReaderBuilder builder;
  PARQUET_THROW_NOT_OK(builder.Open(make_file_input(file), properties, metadata));
  std::unique_ptr<parquet::arrow::FileReader> reader;
  PARQUET_THROW_NOT_OK(builder.properties(parquet::ArrowReaderProperties{false})->Build(&reader));
  return reader;
}

}  // namespace

struct parquet_table::file {
  file(byte_file_ptr opened, std::shared_ptr<parquet::FileMetaData> read, std::vector<int> matched)
      : bytes{std::move(opened)}, metadata{std::move(read)}, leaves{std::move(matched)} {}

  byte_file_ptr bytes;
  std::shared_ptr<parquet::FileMetaData> metadata;
  std::vector<int> leaves;  ///< number of each column among the file's own
  /// To make one takes as long as the file has columns; one thread uses it at a time.
  mutable scratch_pool<parquet::arrow::FileReader> readers{
      [this] { return make_reader(bytes, metadata); }};
};

parquet_table::~parquet_table() = default;

parquet_table::parquet_table(std::vector<byte_file_ptr> files, const parquet_options& options) {
  struct opened_file {
    std::shared_ptr<parquet::FileMetaData> metadata;
    parquet_schema schema;
  };
  std::vector<opened_file> opened(files.size());
  parallel_for(files.size(), [&](std::size_t i) {
    call_arrow({.path = files[i]->name(), .field = {}}, "", [&] {
      const auto reader = make_reader(files[i], nullptr);
      opened[i] = {reader->parquet_reader()->metadata(), read_parquet_schema(reader->manifest())};
      name_hub_classes(opened[i].schema, *opened[i].metadata, files[i]->name());
    });
    files[i]->require_unchanged();
  });
  const std::string& first_path = files.front()->name();
  const parquet_schema& schema = opened.front().schema;
  for (const std::size_t place : choose_columns(schema, first_path, options.fields))
    columns_.push_back(schema.columns[place]);
  left_out_ = schema.left_out;
  if (columns_.empty())
    throw dataset_error{{.path = first_path, .field = {}},
                        "has no column that can be a field" + reasons_of(left_out_)};
  fills_.resize(columns_.size());
  for (const auto& [name, value] : options.fill_nulls) {
    const auto at =
        std::ranges::find(columns_, name, [](const auto& each) { return each.as.spec.name; });
    if (at == columns_.end())
      throw usage_error{"open_parquet: parquet_options::fill_nulls names '" + printable(name) +
                        "', which is not among the columns that are opened"};
    fills_[static_cast<std::size_t>(at - columns_.begin())].emplace(
        "open_parquet", field{name, at->as.spec.type, {}}, value);
  }

  std::uint64_t end = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& metadata = opened[i].metadata;
    files_.push_back(
        std::make_unique<const file>(files[i], metadata,
                                     match_columns(columns_, opened[i].schema, files[i]->name(),
                                                   first_path, options.fields.empty())));
    for (int number = 0; number < metadata->num_row_groups(); ++number) {
      const std::int64_t rows = metadata->RowGroup(number)->num_rows();
      if (rows < 0 || __builtin_add_overflow(end, static_cast<std::uint64_t>(rows), &end) ||
          end > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
        throw dataset_error{{.path = files[i]->name(), .field = {}},
                            "row group " + std::to_string(number) + " has " + std::to_string(rows) +
                                " rows: the file is damaged"};
      if (rows == 0) continue;
      groups_.push_back({i, number});
      ends_.push_back(end);
    }
  }
  if (groups_.empty()) throw dataset_error{{.path = first_path, .field = {}}, "holds no row"};
  equal_rows_ = rows(0);
  for (std::size_t i = 0; i < groups(); ++i)
    if (rows(i) != equal_rows_ && (i + 1 != groups() || rows(i) > equal_rows_)) equal_rows_ = 0;
  check_groups();
}

/// A small file may claim rows of any number; more than memory holds could never be read.
void parquet_table::check_groups() const {
  std::vector<std::uint64_t> nulls(columns_.size());
  for (std::size_t group = 0; group < groups(); ++group) {
    const file& in = *files_[groups_[group].file];
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const dataset_location where{.path = in.bytes->name(),
                                   .field = columns_[column].as.spec.name};
      const std::size_t bytes = call_arrow(where, group_text(group), [&] {
        const auto chunk =
            in.metadata->RowGroup(groups_[group].number)->ColumnChunk(leaf_of(group, column));
        const auto statistics = chunk->statistics();
        if (statistics && statistics->HasNullCount())
          nulls[column] +=
              static_cast<std::uint64_t>(std::max<std::int64_t>(0, statistics->null_count()));
        return decoded_bytes(group, column);
      });
      if (bytes > machine_memory_bytes())
        throw dataset_error{where, group_text(group) + "takes " + std::to_string(bytes) +
                                       " bytes, more than the " +
                                       std::to_string(machine_memory_bytes()) +
                                       " of this machine's memory; write smaller row groups"};
    }
  }
  for (std::size_t column = 0; column < columns_.size(); ++column)
    if (nulls[column] != 0 && !fills_[column] && !columns_[column].as.is_ragged)
      log()->warn(
          "open_parquet: {}: column '{}' has nulls ({}), and to read one is an error; give a "
          "value for them (fill_nulls)",
          printable(files_.front()->bytes->name()), printable(columns_[column].as.spec.name),
          nulls[column]);
}

std::size_t parquet_table::group_of(std::uint64_t row) const noexcept {
  return equal_rows_ != 0 ? static_cast<std::size_t>(row / equal_rows_) : part_at(ends_, row);
}

std::string parquet_table::group_text(std::size_t of) const {
  return "row group " + std::to_string(groups_[of].number) + ": ";
}

int parquet_table::leaf_of(std::size_t group, std::size_t column) const {
  return files_[groups_[group].file]->leaves[column];
}

std::size_t parquet_table::value_bytes(std::size_t group, std::size_t column) const {
  const described_field& as = columns_[column].as;
  std::size_t bytes = 0;
  if (!as.is_ragged) {
    if (__builtin_mul_overflow(rows(group), sample_bytes(as.spec), &bytes)) return SIZE_MAX;
    return bytes;
  }
  const auto chunk = files_[groups_[group].file]
                         ->metadata->RowGroup(groups_[group].number)
                         ->ColumnChunk(leaf_of(group, column));
  return static_cast<std::size_t>(std::max<std::int64_t>(0, chunk->total_uncompressed_size()));
}

std::size_t parquet_table::decoded_bytes(std::size_t group, std::size_t column) const {
  std::size_t bytes = value_bytes(group, column);
  std::size_t spans = 0;
  if (!columns_[column].as.is_ragged) return bytes;
  if (__builtin_mul_overflow(rows(group), sizeof(std::span<std::byte>), &spans) ||
      __builtin_add_overflow(bytes, spans, &bytes))
    return SIZE_MAX;
  return bytes;
}

parquet_values parquet_table::read(std::size_t group, std::size_t column) const {
  const file& in = *files_[groups_[group].file];
  const dataset_location where{
      .path = in.bytes->name(), .field = columns_[column].as.spec.name, .sample = first_row(group)};
  parquet_values values = call_arrow(where, group_text(group), [&] {
    const auto reader = in.readers.take();
    std::shared_ptr<arrow::Table> table;
    PARQUET_THROW_NOT_OK(
        reader->RowGroup(groups_[group].number)->ReadTable({leaf_of(group, column)}, &table));
    if (table->num_columns() != 1) throw dataset_error{{}, "the column is not there"};
    if (static_cast<std::uint64_t>(table->num_rows()) != rows(group) ||
        static_cast<std::uint64_t>(table->column(0)->length()) != rows(group))
      throw dataset_error{{},
                          "has " + std::to_string(table->column(0)->length()) + " values for " +
                              std::to_string(rows(group)) + " rows: the file is damaged"};
    return convert_values(*table->column(0), columns_[column], fills_[column]);
  });
  in.bytes->require_unchanged();
  return values;
}

std::vector<std::byte> parquet_table::first_value(std::size_t group, std::size_t column) const {
  const file& in = *files_[groups_[group].file];
  const dataset_location where{
      .path = in.bytes->name(), .field = columns_[column].as.spec.name, .sample = first_row(group)};
  return call_arrow(where, group_text(group), [&]() -> std::vector<std::byte> {
    const auto reader = in.readers.take();
    const auto values =
        reader->parquet_reader()->RowGroup(groups_[group].number)->Column(leaf_of(group, column));
    if (values->type() != parquet::Type::BYTE_ARRAY) return {};
    auto& bytes = static_cast<parquet::ByteArrayReader&>(*values);
    constexpr std::int64_t max_rows = 64;
    for (std::int64_t row = 0; row < max_rows && bytes.HasNext(); ++row) {
      std::array<std::int16_t, 1> definition{};
      std::array<std::int16_t, 1> repetition{};
      std::array<parquet::ByteArray, 1> value{};
      std::int64_t read = 0;
      if (bytes.ReadBatch(1, definition.data(), repetition.data(), value.data(), &read) == 0) break;
      if (read == 0) continue;
      const auto found = std::as_bytes(std::span{value[0].ptr, value[0].len});
      return {found.begin(), found.end()};
    }
    return {};
  });
}

void parquet_table::refuse(const dataset_error& fault, std::uint64_t sample,
                           std::size_t column) const {
  const std::size_t group = group_of(sample);
  const file& in = *files_[groups_[group].file];
  in.bytes->require_unchanged();
  throw dataset_error{{in.bytes->name(), columns_[column].as.spec.name, sample, {}},
                      "row " + std::to_string(sample - first_row(group)) + " of row group " +
                          std::to_string(groups_[group].number) + ": " + fault.message()};
}

dataset_error parquet_table::null_error(std::uint64_t sample, std::size_t column) const {
  const parquet_column& of = columns_[column];
  return {
      {.path = {}, .field = {}, .sample = sample},
      std::string{of.as.is_ragged && !of.is_bytes ? "is null, or has a null within" : "is null"} +
          "; give a value for the nulls of '" + printable(of.as.spec.name) +
          "' (parquet_options::fill_nulls), or replace such samples (sample_errors)"};
}

bool parquet_table::any_is_cold() const noexcept {
  return std::ranges::any_of(files_, [](const auto& each) { return each->bytes->is_cold(); });
}

void parquet_table::will_need(std::size_t group,
                              const std::vector<std::size_t>& columns) const noexcept try {
  const file& in = *files_[groups_[group].file];
  std::vector<byte_range> ranges;
  for (const std::size_t column : columns) {
    const auto chunk =
        in.metadata->RowGroup(groups_[group].number)->ColumnChunk(leaf_of(group, column));
    std::int64_t begin = chunk->data_page_offset();
    if (chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0)
      begin = std::min(begin, chunk->dictionary_page_offset());
    const std::int64_t bytes = chunk->total_compressed_size();
    const auto size = static_cast<std::int64_t>(in.bytes->size());
    if (begin < 0 || begin >= size || bytes <= 0 || bytes > size - begin) continue;
    ranges.push_back(
        {static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(begin + bytes)});
  }
  in.bytes->will_need(ranges);
} catch (...) {  // NOLINT(bugprone-empty-catch): a hint may be dropped
}

parquet_table_ptr open_parquet_table(const std::vector<std::string>& patterns,
                                     const parquet_options& options) {
  if (patterns.empty()) throw usage_error{"open_parquet: there is no file"};
  std::vector<byte_file_ptr> files;
  for (const std::string& path : expand_paths(patterns)) {
    if (kind_of_entry(path) != entry_kind::folder) {
      files.push_back(open_file(path));
      continue;
    }
    for (const std::string& each : parquet_files_in(path)) files.push_back(open_file(each));
  }
  if (files.empty())
    throw dataset_error{{.path = patterns.front(), .field = {}}, "holds no Parquet file"};
  return std::make_shared<const parquet_table>(std::move(files), options);
}

}  // namespace feedline::detail
