#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A field of a record, and its offset in the record.
struct record_field {
  /// Directly after the previous field in the list, without padding; the first field is at offset
  /// 0.
  static constexpr std::uint64_t after_previous = std::numeric_limits<std::uint64_t>::max();

  std::string name;
  element_type type = element_type::u8;
  /// Shape; empty: one element.
  std::vector<std::uint64_t> shape = {};
  std::uint64_t offset = after_previous;  ///< offset in the record, in bytes; fields may overlap
};

/// Layout of a file of records.
struct record_options {
  /// Size of the header before the first record of each file; its content is ignored.
  std::uint64_t header_bytes = 0;
  /// Distance between records; 0: the end of the last field.
  std::uint64_t record_bytes = 0;
  std::endian byte_order = std::endian::little;  ///< byte order of elements of more than one byte
};

/// Opens files of fixed-size records as one sequence, in the given order; each record is a sample.
///
///     auto train = feedline::open_records({"a.bin", "b.bin"},
///                                         {{"label", element_type::u8},
///                                          {"image", element_type::u8, {3, 96, 96}}});
///
/// Samples are read directly from the files, mapped or not (`map_files`), without a lock and
/// without extra memory.
/// @param files Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming the file: unreadable, shorter than its header, no record, not a
/// whole number of records.
/// @throws usage_error if there is no file or no field, two fields have the same name, or a field
/// extends beyond `record_bytes`.
[[nodiscard]] dataset_ptr open_records(const std::vector<std::string>& files,
                                       const std::vector<record_field>& fields,
                                       const record_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
