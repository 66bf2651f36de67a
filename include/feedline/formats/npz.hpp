#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_npz`.
struct npz_options {
  /// Limit of the memory for arrays, all together; 0: the machine's memory.
  std::size_t max_bytes = 0;
};

/// Opens arrays of a NumPy archive written by `numpy.savez` or `numpy.savez_compressed`. Each
/// member is a field with its name ("images" for the member images.npy); a sample has one row of
/// each.
///
/// Uncompressed members are read directly from the archive like a file by `open_npy`, mapped or not
/// (`map_files`), without extra memory; the archive's checksums of them are not checked. Compressed
/// members, and those in Fortran order, are decoded into memory at opening, and their checksums are
/// checked.
///
///     auto train = feedline::open_npz("mnist.npz", {"x_train", "y_train"});
///
/// Needs a feedline that was built with libzip.
/// @param members Names, with or without ".npy", in the wanted order. Empty: all arrays of the
/// archive that can be fields; the log names members that are not arrays, and those whose type or
/// dimensions are refused by `open_npy`, with the reason.
/// @throws dataset_error naming file and member: not a zip archive, damaged, no such member (with
/// the existing ones), several with the same name, different first dimensions, encrypted, more
/// memory needed than allowed (found before any is allocated), and all errors of `open_npy`.
[[nodiscard]] dataset_ptr open_npz(const std::string& file,
                                   const std::vector<std::string>& members = {},
                                   const npz_options& options = {});

/// Opens a member of a NumPy archive as an array of N dimensions, for `make_windows`: in the
/// archive if it is not compressed, else in memory. The array has the member's name.
/// @throws dataset_error as `open_npz`.
[[nodiscard]] array_ptr open_npz_array(const std::string& file, const std::string& member);

/// Opens a sparse matrix that `scipy.sparse.save_npz` wrote, stored by rows ("csr"), as a
/// dataset of dense rows: see `make_csr_dataset`.
/// @param field_name Name of the field.
/// @throws dataset_error as `open_npz`; if the matrix is of another format, naming it.
[[nodiscard]] dataset_ptr open_npz_csr(const std::string& file, std::string field_name);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
