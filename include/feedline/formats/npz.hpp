#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How an archive of arrays is opened.
struct npz_options {
  std::size_t max_bytes = 0;  ///< of memory that arrays take, all together; 0: the machine's memory
};

/// Opens arrays of a NumPy archive, as `numpy.savez` and `numpy.savez_compressed` write it: each
/// member is a field of its name ("images" for the member images.npy), a sample is a row of each.
///
/// Members that are not compressed are read from the archive as `open_npy` reads a file, mapped or
/// not (`map_files`), with no memory of their own; the archive's checksums of them are not looked
/// at. Compressed members, and those in Fortran order, are decoded into memory at opening,
/// checksums verified.
///
///     auto train = feedline::open_npz("mnist.npz", {"x_train", "y_train"});
///
/// Needs feedline to have been built with libzip.
/// @param members Names, with or without ".npy", in the order wanted; empty: all arrays there are,
///        and the log tells of members that are none.
/// @throws dataset_error naming file and member: not a zip archive, damaged, no such member (with
///         those there are), several of one name, first dimensions that differ, encrypted, more
///         memory than allowed (before any is taken), and all that `open_npy` refuses.
[[nodiscard]] dataset_ptr open_npz(const std::string& file,
                                   const std::vector<std::string>& members = {},
                                   const npz_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
