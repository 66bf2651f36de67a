#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Labels that are texts. A label becomes the index of its text in a list of names, which
/// `field::classes` has then. If neither names nor a file are given, the names are learnt: all
/// texts that occur, in order of their bytes, found by one pass over all records. Name them if
/// several datasets (training and validation) must count alike.
///
/// If all records that are looked at have whole numbers, and names are given, the numbers are
/// labels already: they count the names from 0, and a number that counts none is an error. In CSV
/// files names that are whole numbers themselves ("0", "10") are compared with the cells instead.
/// @throws usage_error if whole numbers of JSON lines have no given names.
struct text_labels {
  std::vector<std::string> names = {};  ///< classes 0, 1, …
  /// A text file with a name on each line, instead of `names`.
  std::string file = {};
  element_type type = element_type::i32;  ///< an integer type large enough for the classes
};

/// Value of a column in records that have none.
using column_fill = std::variant<std::int64_t, double, std::string>;

/// How a column of a table becomes a field, where the records that are looked at do not tell.
struct table_column {
  /// Type of numbers; a value that it cannot hold is an error, and f32 and f64 round. A number with
  /// a fraction or an exponent is an integer only below 2^53, where nothing was rounded. Not f16
  /// and bf16, which transforms make of f32. Empty: inferred.
  std::optional<element_type> type = std::nullopt;
  /// JSON: each record has a list of this shape. Empty: inferred.
  std::optional<std::vector<std::uint64_t>> shape = std::nullopt;
  bool is_ragged = false;  ///< JSON: each record has a list of any length, also 0
  bool is_text = false;    ///< CSV: texts, even if those that are looked at are numbers
  std::optional<text_labels> labels = std::nullopt;  ///< texts, or numbers, of classes
  /// Used if a record has no value, or null. A number, converted to the field's type; or a text,
  /// for texts and labels. All numbers of a list of fixed shape; a list of any length becomes empty
  /// whatever it is. Empty: such a record is an error.
  std::optional<column_fill> fill = std::nullopt;
};

/// Options for tables: `open_json_lines`, `open_csv`.
struct table_options {
  /// Fields to open, in the wanted order; empty: all columns that can be fields.
  std::vector<std::string> fields = {};
  /// Columns by name, if what the records that are looked at have is not what is wanted.
  std::map<std::string, table_column> columns = {};
  /// Padding of ragged fields, by name; same as `decode_options::pad`.
  std::map<std::string, pad_options> pad = {};
  /// Number of records, spread evenly over all files, that are looked at to choose fields.
  std::size_t looked_at = 1024;
  /// Limit of memory for the decompressed blocks of files that gzip compressed; at least two are
  /// kept. 0: a quarter of the machine's memory.
  std::size_t max_host_cache_bytes = 0;
  /// An existing folder of this machine in which the index of each file is kept, 8 bytes a record,
  /// for later runs: otherwise each run reads all files once to find their records. An index is
  /// used if its checksum is right and if the file's path, size and version (time of its last
  /// change) are those it was made for; otherwise it is made again. Empty: indexes are kept in
  /// memory only.
  std::string index_folder = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
