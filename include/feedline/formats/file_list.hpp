#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/ragged/pad.hpp>

#include <map>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_file_list`.
struct file_list_options {
  std::string root = {};  ///< folder of relative paths; empty: that of each list
  /// Names of the labels 0, 1, …; empty: same as in `image_list_options::classes`.
  std::vector<std::string> classes = {};
  image_options image = {};                     ///< images: decoding and size
  element_type label_type = element_type::i32;  ///< an integer type large enough for the labels
  /// Padding of ragged fields, by name; same as `decode_options::pad`.
  std::map<std::string, pad_options> pad = {};
};

/// Opens files that text files list, one a line: a path, white space, a label. Target
/// `feedline::formats`. Lines are as in `open_image_list`. The first path tells what all files are:
///
/// - images by name: the dataset of `open_image_list`, with the field "image";
/// - .npz, .npy, .safetensors: the fields of `open_array_files`;
/// - others: a ragged field "bytes", uint8, the file's content.
///
/// The last field is "label", a scalar, whose names are in `field::classes` unless labels are
/// numbers.
///
///     auto train = feedline::open_file_list({"train.txt"}, {.classes = {"yes", "no"}});
///
/// @param lists Paths or patterns: see `expand_paths`.
/// @throws dataset_error, usage_error like `open_image_list` and `open_array_files`.
[[nodiscard]] dataset_ptr open_file_list(const std::vector<std::string>& lists,
                                         const file_list_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
