#pragma once

#include "hdf5/library/session.hpp"

#include <cstddef>
#include <optional>
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

/// For all members at once, for each takes a walk over those before it.
/// @param record Of a compound type.
[[nodiscard]] hdf5_record_layout layout_in_file(const hdf5_session& hdf5, hid_t record,
                                                std::size_t address_bytes, unsigned depth = 0);

}  // namespace feedline::detail
