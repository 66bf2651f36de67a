#pragma once

#include <feedline/formats/open.hpp>

#include "io/byte_file.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// The properties that tell a file's format.
struct probed_file {
  const byte_file& file;
  std::span<const std::byte> head;     ///< its first bytes, 64 KiB at most
  bool is_compressed;                  ///< compressed by gzip
  std::span<const std::byte> content;  ///< the same as `head`, or up to 48 KiB of it, decompressed
};

/// A format that `open` knows. A function NAME_format() returns it, in `format.cpp` of the format's
/// own folder. To add one: that file, and a line in format_table.cpp.
struct format_entry {
  std::string_view name;      ///< `open_options::format`: "idx"
  std::string_view known_as;  ///< in a list of all: "IDX files (plain or gzip)"
  /// Whether a file's content has this format; null: the content is not conclusive, or it is a
  /// folder.
  bool (*is)(const probed_file& file) = nullptr;
  /// Asked where no format `is`, in the table's order. Null: not asked.
  bool (*may_be)(const probed_file& file) = nullptr;
  /// Opens files of the format, at least one, one after the other as one sequence.
  dataset_ptr (*open)(const std::vector<std::string>& files, const open_options& options) = nullptr;
  /// The fields of a file; null: those of the dataset that `open` makes of it.
  std::vector<listed_field> (*list)(const std::string& file, const open_options& options) = nullptr;
  /// Whether a folder has this format; null: no folder has. The first in the table counts.
  bool (*is_folder)(const std::string& path) = nullptr;
  bool takes_like = false;        ///< uses `open_options::like`
  bool takes_tokens = false;      ///< uses `open_options::tokens_per_sample`
  bool takes_pad = false;         ///< uses `open_options::pad`
  bool takes_columns = false;     ///< uses `open_options::columns`
  bool takes_fill_nulls = false;  ///< uses `open_options::fill_nulls`
};

/// Opens each file by itself, and puts them one after the other.
/// @throws dataset_error naming the first file whose fields differ.
[[nodiscard]] dataset_ptr open_each(const std::vector<std::string>& files,
                                    const std::function<dataset_ptr(const std::string&)>& open_one);

/// The name of a format's only field: the option, or `otherwise`. @param format Its name.
/// @throws usage_error if the option names several.
[[nodiscard]] std::string only_name(const open_options& options, std::string_view format,
                                    const std::string& otherwise);

/// A dataset's fields as `list_fields` shows them.
[[nodiscard]] std::vector<listed_field> list_opened(const dataset& opened);

}  // namespace feedline::detail
