#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Images of one kind, one for each sample: photographs, masks, depths.
struct joined_field {
  std::string name;     ///< name of the field
  std::string root;     ///< folder with the files, and folders within
  decoder_ptr decoder;  ///< such as `make_image_decoder` or `make_mask_decoder`
  /// End of each file's name before its extension, such as "_mask", which files of other fields do
  /// not have. Files without it are not this field's.
  std::string suffix = {};
};

/// Options for `open_joined_images`.
struct joined_images_options {
  bool skip_incomplete = false;  ///< leave out samples that lack a file; off: an error
};

/// Images with other images that belong to them.
struct joined_images {
  dataset_ptr dataset;
  std::vector<std::string> paths;  ///< file of each sample's first field
  /// Files that are not images by name, lack the suffix, or have no partner.
  std::uint64_t skipped_files = 0;
  std::vector<std::string> examples;  ///< paths of the first of these, at most 10
};

/// Opens images and what belongs to them, such as masks, depths or the second image of a pair, as
/// fields of one sample. Target `feedline::images`. Files match by their paths below the root,
/// without extension and suffix: images/a/1.jpg and masks/a/1.png are one sample. Samples are in
/// the order of these names' bytes.
///
///     feedline::image_options cut{.height = 512, .width = 512, .resized_crop = crop_ranges{}};
///     auto [train, paths, skipped_files, examples] = feedline::open_joined_images(
///         {{"image", "train/images", feedline::make_image_decoder(cut)},
///          {"mask", "train/masks", feedline::make_mask_decoder(cut)}});
///
/// All images of a sample have the same size as they are stored, so that they are cut by the same
/// window. All fields but the first belong to it (`field::tie`): a loader refuses transforms that
/// would crop, resize or flip them differently. `encoded()` is as for `zip`: devices decode images
/// and masks.
/// @throws dataset_error naming the file: no file of another field has its name (unless
/// `skip_incomplete`), two files of a field have it, a root has no image, or no sample is left.
/// When read: also an image of another size than the one that it belongs to.
/// @throws usage_error if there are fewer than two fields, a name is empty or occurs twice, a
/// decoder is missing, or the decoders differ in shorter_side, resized_crop, follow_orientation,
/// fit, sizes, size_divisible, larger or flip, or, with shorter_side or fit, in height or width.
/// Decoders of other kinds of values are refused, because they cannot follow.
[[nodiscard]] joined_images open_joined_images(const std::vector<joined_field>& fields,
                                               const joined_images_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
