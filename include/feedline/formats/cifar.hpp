#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens files of CIFAR-10's binary version as one sequence, in the given order: fields "label"
/// (u8, 0 to 9) and "image" (u8[3, 32, 32]: red, green and blue planes).
///
/// Samples are read directly from the files, mapped or not (`map_files`), without a lock and
/// without extra memory. Format: "Binary version" in A. Krizhevsky, The CIFAR-10 dataset.
/// @param files Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming the file: unreadable, not a whole number of records, an invalid
/// label.
/// @throws usage_error if there is no file.
[[nodiscard]] dataset_ptr open_cifar10(const std::vector<std::string>& files);

/// Opens files of CIFAR-100's binary version: fields "coarse_label" (u8, 0 to 19), "fine_label"
/// (u8, 0 to 99) and "image". Otherwise as above.
[[nodiscard]] dataset_ptr open_cifar100(const std::vector<std::string>& files);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
