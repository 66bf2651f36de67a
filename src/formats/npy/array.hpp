#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/formats/open.hpp>

#include "dataset/rows_dataset.hpp"
#include "formats/npy/header.hpp"
#include "io/byte_source.hpp"
#include "rows/row_storage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace feedline::detail {

/// Opens the array that is a stretch of a file: in place, or transposed into memory if it is in
/// Fortran order and its samples have more than one element.
/// @throws dataset_error: see `open_npy`. Offsets count from `begin`.
[[nodiscard]] rows_field open_npy_array(const byte_file_ptr& file, std::uint64_t begin,
                                        std::uint64_t bytes, const file_field& name);

/// Reads the array that bytes hold which come one after the other, and whose end is known, into
/// memory.
/// @param bytes Claimed length of the array's source; memory is allocated only as bytes arrive.
/// @throws dataset_error: see `open_npy`.
[[nodiscard]] rows_field read_npy_array(byte_source& from, std::uint64_t bytes,
                                        const file_field& name);

/// The array that is a stretch of a file, to be read in boxes.
/// @throws dataset_error as `open_npy_array`.
[[nodiscard]] array_ptr open_npy_box_array(const byte_file_ptr& file, std::uint64_t begin,
                                           std::uint64_t bytes, const file_field& name);
/// The same as `read_npy_array`, to be read in boxes.
[[nodiscard]] array_ptr read_npy_box_array(byte_source& from, std::uint64_t bytes,
                                           const file_field& name);

/// The field described by a `.npy` file's header. Its elements are not read.
[[nodiscard]] listed_field list_npy(const std::string& file, const std::string& field_name);

/// The arrays of an archive, in its order, by their headers. Those that cannot be read have their
/// reason. A matrix of `scipy.sparse.save_npz` in the format "csr" is a field, and its parts are
/// left out. @param matrix_name Name of that field.
[[nodiscard]] std::vector<listed_field> list_npz(const std::string& file,
                                                 const std::string& matrix_name);

/// The arrays of an archive, or the dense rows of such a matrix if no fields are named, or if it is
/// named.
/// @throws dataset_error as `open_npz` and `open_npz_csr`.
[[nodiscard]] dataset_ptr open_whole_npz(const std::string& file,
                                         const std::vector<std::string>& fields,
                                         const std::string& matrix_name);

/// Reads bytes of an array's elements, in the order in which the file has them. Called by several
/// threads at once.
using element_bytes = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

/// Puts an array in Fortran order into sample after sample, each in C order, in the machine's byte
/// order: one pass over the file, on all cores.
///
/// In a file of that order a sample's elements lie `extents[0]` elements apart, so that gathering
/// one sample would touch as many cache lines, or pages of a disk, as it has elements.
/// @throws dataset_error as `read` does.  @throws std::bad_alloc
[[nodiscard]] row_storage rows_of_fortran_array(const npy_header& header,
                                                const element_bytes& read);

}  // namespace feedline::detail
