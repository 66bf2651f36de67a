#pragma once

#include <feedline/dataset/batch_sizes.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/image/decode.hpp>

#include "image/resize/geometry.hpp"
#include "image/sets/image_files.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// Extents of each sample's image, as it is shown; no pixels where they are not known.
using known_extents = std::shared_ptr<const std::vector<image_extents>>;

/// Reads a file's header for its extents; nothing if it has none.
/// @throws dataset_error if the file cannot be read.
[[nodiscard]] std::optional<image_extents> extents_in_file(const std::string& path,
                                                           bool follows_orientation);

/// Reads the headers of all files, on all cores. Files that cannot be read have no pixels, and the
/// log reports them: they are an error when they are read.
[[nodiscard]] known_extents read_extents(const image_files& files, bool follows_orientation);

/// The sizes of batches of padded images: those of the largest image, rounded up.
[[nodiscard]] batch_sizes_ptr padded_sizes(const image_options& options, known_extents extents);

/// A dataset of one field, "image_size" for images named "image": i32[2], height and width of the
/// image in its sample. @param options Checked.
[[nodiscard]] dataset_ptr make_size_field(const std::string& image, const image_options& options,
                                          known_extents extents);

/// A dataset of image files; with a field of sizes if images are padded. @param name The field's.
[[nodiscard]] dataset_ptr make_image_dataset(image_files files, const std::string& name,
                                             const decoder_ptr& decoder);

}  // namespace feedline::detail
