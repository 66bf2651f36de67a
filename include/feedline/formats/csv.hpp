#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/formats/columns.hpp>
#include <feedline/ragged/dataset.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_csv`.
struct csv_options {
  table_options table = {};
  /// Separates cells: a comma, a tab, or any other byte. 0: the one of comma, tab, semicolon and
  /// bar that all of the first records have in the same number, the most frequent of these.
  char separator = '\0';
  /// Quotes cells that have separators, quotes (doubled) or ends of lines in them. 0: nothing is
  /// quoted, and every line is a record.
  char quote = '"';
  /// Whether the first record of each file has the names of the columns. Empty: it has if none of
  /// its cells is a number or empty, or if a column has a text there, and numbers in the next
  /// records. Without a header columns are named "0", "1", …; so is a column without a name.
  std::optional<bool> header = std::nullopt;
  /// Cells that count as no value. A column of texts has them as texts, unless it has a `fill`.
  std::vector<std::string> missing = {""};
  /// Columns of numbers that become one field of shape [N], by the field's name. In a column's
  /// name `*` stands for any text, and `?` for any character: {"pixels", {"pixel*"}}.
  std::map<std::string, std::vector<std::string>> merge = {};
};

/// Opens files of comma-separated values (RFC 4180), or of values separated otherwise, as one
/// sequence: a sample for each record. Files have the same columns.
///
///     auto train = feedline::open_csv({"train.csv"}, {.merge = {{"pixels", {"pixel*"}}}});
///
/// Each column is a field. Records that are spread evenly over all files are looked at
/// (`table_options::looked_at`), and a column is
///
/// - i64 if all cells are whole numbers, u64 if one is larger, f64 if all are numbers: a whole
///   number that f64 rounds is an error then. A number with leading zeros, such as "007", is a
///   text. `table_column::type` changes both;
/// - boolean if all are "true" or "false", also in capitals;
/// - else ragged u8, the UTF-8 of texts; or classes, with `table_column::labels`.
///
/// A cell without a value in a column of numbers or labels is an error, unless
/// `table_column::fill` is given; so is a column that lacks one in a record that is looked at.
/// Further errors are records with another number of cells, cells that do not suit their field, a
/// quote or a carriage return within a cell that is not quoted, text after a closing quote, and
/// texts that are not UTF-8. Columns without any value in the records that are looked at are left
/// out; the log says so. Ragged fields are padded: without a length in `pad`, one pass over all
/// records finds the longest.
///
/// Opening a file reads it once, on all cores, to find its records; 8 bytes each are kept. Samples
/// are read in any order, without a lock. Empty lines are skipped.
/// Files that gzip compressed are decompressed once when they are opened, files in parallel, which
/// checks them and finds a point every 4 MiB from which they can be read; a point takes 32 KiB.
/// When a line is read, its block of 4 MiB is decompressed, and kept within
/// `table_options::max_host_cache_bytes`; an order of chunks (`shuffle` with `within = chunks()`)
/// decompresses each once. Bytes in errors are those of the decompressed text.
/// @param files Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming file, line, byte and field: no record, damaged gzip, UTF-16,
/// columns of other names than in the first file, two columns of one name, more than 4,096 fields.
/// @throws usage_error if there is no file, a field or column does not exist, or options do not
/// suit; errors of `decode` about `pad`.
[[nodiscard]] dataset_ptr open_csv(const std::vector<std::string>& files,
                                   const csv_options& options = {});

/// One ragged field of such files, for `pack`, `pad` and `bucket_by_length`; see `decode_ragged`.
/// @param options `table.fields` and `table.pad` are not used.
[[nodiscard]] ragged_dataset_ptr open_csv_ragged(const std::vector<std::string>& files,
                                                 const std::string& field,
                                                 const csv_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
