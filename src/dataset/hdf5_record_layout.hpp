#pragma once

#include "dataset/hdf5_session.hpp"

#include <cstddef>
#include <optional>

namespace feedline::detail {

/// Records may be nested so deep; a type is copied for each that is entered, with all in it.
inline constexpr unsigned most_nested_records = 32;

/// How many bytes an address takes in the file of a dataset; 0 if the library does not tell.
[[nodiscard]] std::size_t address_bytes_of(const hdf5_session& hdf5, hid_t dataset);

/// Where a place in a record of a compound type is in the file. The library describes the types of a
/// dataset as they would be in memory: there values of variable length take another size, and all that
/// lies behind them is moved.
/// @param offset As the library says: of a member, or the record's size.
/// @return Nothing if a size in the file is not known: references, types of a later HDF5.
[[nodiscard]] std::optional<std::size_t> offset_in_file(const hdf5_session& hdf5, hid_t record,
                                                        std::size_t offset,
                                                        std::size_t address_bytes,
                                                        unsigned depth = 0);

}  // namespace feedline::detail
