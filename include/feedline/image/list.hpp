#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/image/decode.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Images whose paths were found, or are listed in a file.
struct image_list {
  /// "image" (see `image_options`), "image_size" as for `image_folder`, and "label" if it has one.
  dataset_ptr dataset;
  std::vector<std::string> classes;   ///< names of the labels 0, 1, …; empty: labels are numbers
  std::vector<std::string> paths;     ///< file of each sample
  std::uint64_t skipped_files = 0;    ///< files that are not images by name
  std::vector<std::string> examples;  ///< paths of the first of these, at most 10
};

/// Opens all images of folders, and of the folders within, without classes, as for predictions.
/// Target `feedline::images`. Samples have one field, "image". They are in order of root, folder,
/// name. Names, hidden files, links and `encoded()` are as for `open_image_folder`.
///
///     auto photos = feedline::open_images({"holiday"}, {.height = 224, .width = 224});
///     std::cout << photos.paths[17];  // the file of sample 17
///
/// @throws dataset_error if a root cannot be listed, or has no image; usage_error if there is no
/// root, or the options contradict each other.
[[nodiscard]] image_list open_images(const std::vector<std::string>& roots,
                                     const image_options& image = {});

/// Options for `open_image_list`.
struct image_list_options {
  std::string root = {};  ///< folder of relative paths; empty: that of each list
  /// Names of the labels 0, 1, …. Empty: if the first label is a whole number, all are, and are
  /// taken as they are; else classes are all names that occur, in order of their bytes.
  std::vector<std::string> classes = {};
  image_options image = {};                     ///< decoding and size of each image
  element_type label_type = element_type::i32;  ///< an integer type large enough for the labels
};

/// Opens images that text files list, one a line: a path, white space, a label. Target
/// `feedline::images`. Fields are "image" and "label" (a scalar); samples are in the lists' order,
/// and a path may occur several times. All lists have one list of classes.
///
///     n01440764/a.jpg tench
///     holiday photos/b.png goldfish
///
/// The label is what follows the last white space, so paths may have spaces, and labels have none.
/// Empty lines are skipped, and a `\r` before a line's end is dropped.
/// @param lists Paths; `expand_paths` expands patterns to paths.
/// @throws dataset_error naming list and line: a line without a label or path, a label that is not
/// a number while the first one is, or not one of `classes`, or that its type cannot count; an
/// image that does not exist; a list without an image, or one that cannot be read. When read:
/// errors of `make_image_decoder`.
/// @throws usage_error if there is no list, a class occurs twice, or the options contradict each
/// other.
[[nodiscard]] image_list open_image_list(const std::vector<std::string>& lists,
                                         const image_list_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
