#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens a pair of IDX files, such as MNIST's: fields "image" (shape as in the file) and "label" (a
/// scalar).
///
/// Both files are read whole into memory. A file with the first bytes of gzip is decompressed,
/// whatever its name. Elements may be of any type of the format; multi-byte ones are converted to
/// the machine's byte order. Format: "THE IDX FILE FORMAT" in Y. LeCun, C. Cortes, C. Burges, The
/// MNIST database.
/// @throws dataset_error naming file, field and byte offset: unreadable, not IDX, cut short or too
/// long, zero samples, sizes that overflow, labels that are not one-dimensional, different
/// numbers of images and labels.
[[nodiscard]] dataset_ptr open_idx(const std::string& images, const std::string& labels);

/// Opens one IDX file as a dataset with one field of the given name. Otherwise as above.
[[nodiscard]] dataset_ptr open_idx_file(const std::string& file, std::string field_name);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
