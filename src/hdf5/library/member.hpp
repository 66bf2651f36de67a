#pragma once

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/library/type.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Maximum nesting of records; at each level a type is copied with everything in it.
inline constexpr unsigned max_nested_records = 32;

/// Size of an address in a dataset's file; 0 if the library does not report it.
[[nodiscard]] std::size_t address_bytes_of(const hdf5_session& hdf5, hid_t dataset);

/// Layout of a compound type's record in the file. The library describes the types of a dataset as
/// they would be in memory: there values of variable length have another size, and all members
/// after them are moved.
///
/// A value is empty if a size in the file is unknown: for references, and types of a later HDF5.
struct hdf5_record_layout {
  std::optional<std::size_t> bytes = std::nullopt;       ///< bytes of the record
  std::vector<std::optional<std::size_t>> offsets = {};  ///< offsets of the members, in their order
};

/// Computes the layout for all members at once, because each takes a walk over those before it.
/// Other types have no layout.
[[nodiscard]] hdf5_record_layout layout_in_file(const hdf5_session& hdf5, hid_t record,
                                                std::size_t address_bytes, unsigned depth = 0);

/// Whether values are records (an HDF5 compound type), or arrays of records.
[[nodiscard]] bool has_members(const hdf5_session& hdf5, hid_t type);

/// Paths of all members that are not records themselves, in the records' order: "energy",
/// "position/x". Complex numbers do not count as records. Records that are nested too deep (32) are
/// left out.
[[nodiscard]] std::vector<std::string> member_paths(const hdf5_session& hdf5, hid_t type);

/// The type of a dataset's values, and facts that are computed once for all members of records: the
/// library copies a whole type each time it is asked for it.
struct hdf5_values {
  hdf5_type_id type = {};          ///< empty if the library cannot read it
  std::size_t address_bytes = 0;   ///< size of an address in the dataset's file
  hdf5_record_layout layout = {};  ///< layout of the records
};

/// @param in_array Whether they are members of records in an array.
using value_describer = std::function<hdf5_element(hid_t type, bool in_array)>;

/// Describes the values of a dataset, or those of one member of its records.
///
/// A member of a nested record is named with both names: "position/x". A name that contains '/'
/// itself is tried before its parts. If records are in an array, its dimensions come before the
/// member's own.
/// @param path Path of the field, for the refusal of records.
/// @param member Empty: the values themselves; else the values are records.
/// @param describe Describes values by their type.
[[nodiscard]] hdf5_element describe_values(const hdf5_session& hdf5, const hdf5_values& values,
                                           const std::string& path, std::string_view member,
                                           const value_describer& describe);

/// A type in nested records of one member each, like `records`; the type itself if `records` is not
/// a record.
[[nodiscard]] hdf5_type_id in_records_like(const hdf5_session& hdf5, hid_t records,
                                           hdf5_type_id type);

}  // namespace feedline::detail
