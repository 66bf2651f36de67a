#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/image/decode.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_image_folder`.
struct image_folder_options {
  image_options image = {};                     ///< decoding and size of each image
  element_type label_type = element_type::i32;  ///< an integer type large enough for the classes
};

/// One or several folders of images as a dataset.
struct image_folder {
  /// Fields "image" (see `image_options`) and "label" (a scalar). With `image_fit::pad` also
  /// "image_size", i32[2], between them: height and width of the image within its sample.
  dataset_ptr dataset;
  std::vector<std::string> classes;  ///< names of the labels 0, 1, …
  std::uint64_t skipped_files = 0;   ///< files that are not images by name, or are in no class
  /// The first of these files, at most 10: relative to the root, or with several roots as full
  /// paths.
  std::vector<std::string> examples;
};

/// Opens a folder that contains a folder of images for each class. Target `feedline::images`.
///
///     auto [train, classes, skipped_files, examples] =
///         feedline::open_image_folder("imagenet/train", {.image = {.shorter_side = 256}});
///
/// Classes are the sub-folders in order of their names' bytes. Images are in a class's folder and
/// in folders within, in order of folder, then name. So samples and labels are those of
/// torchvision's ImageFolder. Images are files named .jpg, .jpeg, .png, .webp, .tif, .tiff, .bmp,
/// .ppm or .pgm, in upper or lower case. Hidden files are ignored; other files are counted and
/// logged. Links are followed. Each image takes 16 bytes of memory, plus its name and its label. A
/// file's content is checked when it is read.
///
/// `encoded()` returns the image files as stored: a block is an image. Its first call asks the
/// system for the size of every file, which takes a second or two for a million files, and keeps 4
/// bytes for each.
/// @throws dataset_error naming folder or file: unreadable, no class folder, a Zarr store, images
/// with masks or annotations beside them (folders "images" and "masks"), a class without an image,
/// more classes than the label's type can count; when read: errors of `make_image_decoder`, a
/// file that is missing or larger than 1 GiB.
/// @throws usage_error if the options contradict each other.
[[nodiscard]] image_folder open_image_folder(const std::string& root,
                                             const image_folder_options& options = {});

/// Opens several such folders as one sequence, one root after the other. Classes are those of all
/// roots together: a name is one class, with one label, in every root. A root need not have all
/// classes; the log then names the classes. Otherwise as above.
///
///     auto [train, classes, skipped_files, examples] =
///         feedline::open_image_folder(std::vector<std::string>{"photos", "scans"});
///
/// @param roots Paths; `expand_paths` expands patterns to paths.
/// @throws as above, and usage_error if there is no root.
[[nodiscard]] image_folder open_image_folder(const std::vector<std::string>& roots,
                                             const image_folder_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
