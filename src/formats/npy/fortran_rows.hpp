#pragma once

#include "formats/npy/header.hpp"
#include "rows/row_storage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace feedline::detail {

/// Reads bytes of an array's elements, in the order in which the file has them. Called by several
/// threads at once.
using element_bytes = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

/// Puts an array in Fortran order into sample after sample, each in C order, in the machine's byte
/// order: one pass over the file, on all cores.
///
/// In a file of that order a sample's elements lie `extents[0]` elements apart, so that gathering one
/// sample would touch as many cache lines, or pages of a disk, as it has elements.
/// @throws dataset_error as `read` does.  @throws std::bad_alloc
[[nodiscard]] row_storage rows_of_fortran_array(const npy_header& header,
                                                const element_bytes& read);

}  // namespace feedline::detail
