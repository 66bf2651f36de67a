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

/// Records may be nested so deep; a type is copied for each that is entered, with all in it.
inline constexpr unsigned max_nested_records = 32;

/// How many bytes an address takes in the file of a dataset; 0 if the library does not tell.
[[nodiscard]] std::size_t address_bytes_of(const hdf5_session& hdf5, hid_t dataset);

/// Where the members of a record of a compound type lie in the file. The library describes the
/// types of a dataset as they would be in memory: there values of variable length take another
/// size, and all that lies behind them is moved.
///
/// Nothing stands where a size in the file is not known: references, types of a later HDF5.
struct hdf5_record_layout {
  std::optional<std::size_t> bytes = std::nullopt;       ///< of the record
  std::vector<std::optional<std::size_t>> offsets = {};  ///< of the members, in their order
};

/// For all members at once, for each takes a walk over those before it. Of other types, nothing.
[[nodiscard]] hdf5_record_layout layout_in_file(const hdf5_session& hdf5, hid_t record,
                                                std::size_t address_bytes, unsigned depth = 0);

/// Whether values are records (an HDF5 compound type), or arrays of such.
[[nodiscard]] bool has_members(const hdf5_session& hdf5, hid_t type);

/// Every member of records that is no record itself, in the records' order: "energy", "position/x".
/// Complex numbers are no records. Records that lie too deep in each other (32) are left out.
[[nodiscard]] std::vector<std::string> member_paths(const hdf5_session& hdf5, hid_t type);

/// The type of a dataset's values, and what is worked out once for all members of records: the
/// library copies a type whole each time it is asked for it.
struct hdf5_values {
  hdf5_type_id type = {};          ///< empty if the library cannot make it out
  std::size_t address_bytes = 0;   ///< in the dataset's file
  hdf5_record_layout layout = {};  ///< of records
};

/// @param in_array Whether they are members of records in an array.
using value_describer = std::function<hdf5_element(hid_t type, bool in_array)>;

/// Describes the values of a dataset, or those of one member of its records.
///
/// A member of a record in a record is named with both: "position/x". A name that contains '/'
/// itself is tried before its parts are. Where records lie in an array, its dimensions come before
/// the member's own.
/// @param path   Of the field, for the refusal of what is a record.
/// @param member Empty: the values themselves; else they are records.
/// @param describe Describes the values themselves by their type.
[[nodiscard]] hdf5_element describe_values(const hdf5_session& hdf5, const hdf5_values& values,
                                           const std::string& path, std::string_view member,
                                           const value_describer& describe);

/// A type in records of one member each, one in the other, as `records` are; itself if these are
/// none.
[[nodiscard]] hdf5_type_id in_records_like(const hdf5_session& hdf5, hid_t records,
                                           hdf5_type_id type);

}  // namespace feedline::detail
