#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/image/decode.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How a folder of images is read.
struct image_folder_options {
  image_options image = {};                     ///< what is made of each
  element_type label_type = element_type::i32;  ///< an integer that counts the classes
};

/// A folder of images, or several, as a dataset.
struct image_folder {
  dataset_ptr dataset;  ///< fields "image" (see `image_options`) and "label" (a scalar)
  std::vector<std::string> classes;  ///< names, in order: of label 0, 1, …
  std::uint64_t skipped_files = 0;   ///< files that are no images, by name, or in no class
  /// The first of them, at most 10: relative to the root, or of several roots by their paths.
  std::vector<std::string> examples;
};

/// Opens a folder that holds a folder of images for each class. Target `feedline::images`.
///
///     auto [train, classes, skipped_files, examples] =
///         feedline::open_image_folder("imagenet/train", {.image = {.shorter_side = 256}});
///
/// Classes are the sub-folders in order of their names' bytes; images, those in a class's folder
/// and in folders within, in order of folder, then name. So samples and labels are those of
/// torchvision's ImageFolder. Images are files named .jpg, .jpeg or .png, in any case; hidden ones
/// are passed over, others counted, and told in the log. Links are followed. An image takes 16
/// bytes of memory, its name's and its label's; what is in the files is seen when it is read.
///
/// `encoded()` gives images' files as they are: a block is an image. Once, it asks the system for
/// the size of every file, which takes a second or two for a million, and keeps 4 bytes of each.
/// @throws dataset_error naming folder or file: unreadable, no class folder, a Zarr store, images
///         with masks or annotations beside them (folders "images" and "masks"), a class without an
///         image, more classes than the label's type counts; when read: what `make_image_decoder`
///         refuses, a file that is gone or larger than 1 GiB.
/// @throws usage_error if the options contradict each other.
[[nodiscard]] image_folder open_image_folder(const std::string& root,
                                             const image_folder_options& options = {});

/// Opens several such folders as one sequence, one root after the other. Classes are those of all
/// roots together: a name is one class, with one label, wherever it stands. A root need not have
/// them all; then the log tells the classes. Otherwise as above.
///
///     auto [train, classes, skipped_files, examples] =
///         feedline::open_image_folder(std::vector<std::string>{"photos", "scans"});
///
/// @param roots Paths; `expand_paths` makes them of patterns.
/// @throws as above, and usage_error if there is no root.
[[nodiscard]] image_folder open_image_folder(const std::vector<std::string>& roots,
                                             const image_folder_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
