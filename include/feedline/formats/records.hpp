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

/// A field of a record, and where in the record it lies.
struct record_field {
  /// Behind the field before it in the list, with no padding; the first at the record's begin.
  static constexpr std::uint64_t after_previous = std::numeric_limits<std::uint64_t>::max();

  std::string name;
  element_type type = element_type::u8;
  std::vector<std::uint64_t> shape = {};  ///< empty: one element
  std::uint64_t offset = after_previous;  ///< in bytes from the record's begin; may overlap others
};

/// How records lie in a file.
struct record_options {
  std::uint64_t header_bytes = 0;  ///< of each file, before its first record; not looked at
  std::uint64_t record_bytes = 0;  ///< from one record to the next; 0: where the last field ends
  std::endian byte_order = std::endian::little;  ///< of elements of more than one byte
};

/// Opens files of records of one size, one file after the other as one sequence; each record is a
/// sample.
///
///     auto train = feedline::open_records({"a.bin", "b.bin"},
///                                         {{"label", element_type::u8},
///                                          {"image", element_type::u8, {3, 96, 96}}});
///
/// The files are read where they lie, mapped or not (`map_files`), with no lock and no memory of
/// their own.
/// @param files Patterns may be among them: see `expand_paths`.
/// @throws dataset_error naming the file: unreadable, shorter than its header, no record, no whole
///         number of records.
/// @throws usage_error if there is no file or no field, two fields have one name, or a field
///         reaches beyond `record_bytes`.
[[nodiscard]] dataset_ptr open_records(const std::vector<std::string>& files,
                                       const std::vector<record_field>& fields,
                                       const record_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
