#pragma once

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
/// archive; the log names members that are not arrays.
/// @throws dataset_error naming file and member: not a zip archive, damaged, no such member (with
/// the existing ones), several with the same name, different first dimensions, encrypted, more
/// memory needed than allowed (found before any is allocated), and all errors of `open_npy`.
[[nodiscard]] dataset_ptr open_npz(const std::string& file,
                                   const std::vector<std::string>& members = {},
                                   const npz_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
