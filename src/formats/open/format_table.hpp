#pragma once

#include <feedline/formats/open.hpp>

#include "io/byte_file.hpp"

#include <cstddef>
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
  std::span<const std::byte> content;  ///< the same as `head`, or the first 512 decompressed bytes
};

/// A format that `open` knows. To add one: a value of `file_format`, and a line in the table.
struct format_entry {
  file_format format;
  std::string_view name;      ///< "IDX"
  std::string_view known_as;  ///< in a list of all: "IDX files (plain or gzip)"
  /// Whether a file's content has this format; null: the content is not conclusive, or it is a
  /// folder.
  bool (*is)(const probed_file& file);
  /// Asked where no format `is`, in the table's order. Null: not asked.
  bool (*may_be)(const probed_file& file);
  /// Opens files of the format, at least one, one after the other as one sequence.
  dataset_ptr (*open)(const std::vector<std::string>& files, const open_options& options);
  /// The fields of a file; null: those of the dataset that `open` makes of it.
  std::vector<listed_field> (*list)(const std::string& file, const open_options& options) = nullptr;
};

/// All formats; which comes first matters to `may_be` alone.
[[nodiscard]] std::span<const format_entry> format_table() noexcept;

/// A format's entry; null: unknown.
[[nodiscard]] const format_entry* find_format(file_format format) noexcept;

/// A dataset's fields as `list_fields` shows them.
[[nodiscard]] std::vector<listed_field> list_opened(const dataset& opened);

/// Opens them with the fields that the first shard has. Logs what it leaves out.
[[nodiscard]] dataset_ptr open_tar_shards(const std::vector<std::string>& shards,
                                          const open_options& options);

/// Lists the same fields, and what is left out.
[[nodiscard]] std::vector<listed_field> list_tar_shard(const std::string& shard,
                                                       const open_options& options);

/// All datasets of an HDF5 file, if they belong together, or those that options name.
[[nodiscard]] dataset_ptr open_whole_hdf5(const std::string& path, const open_options& options);

/// All that an HDF5 file holds, values of variable length included.
[[nodiscard]] std::vector<listed_field> list_whole_hdf5(const std::string& path,
                                                        const open_options& options);

}  // namespace feedline::detail
