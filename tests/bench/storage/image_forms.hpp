#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/image/decode.hpp>

#include "support/files/temporary_directory.hpp"

#include <string>
#include <vector>

namespace feedline::bench {

/// The forms in which this build can store the images of a folder: "folder", "tfrecord", "mds" if
/// there is nlohmann-json, "parquet" if there is Arrow; and "masks" and "boxes", the folder with a
/// mask of classes beside each image (PNGs with a palette), or seven boxes.
[[nodiscard]] std::vector<std::string> image_forms();

/// The images of a folder of classes, stored in another form: the same files' bytes and labels.
class stored_images {
 public:
  /// Writes files of 1,024 images each into a temporary folder, or masks. "folder" and "boxes":
  /// writes nothing.
  /// @param form One of `image_forms()`. @throws std::runtime_error if a file cannot be written.
  stored_images(std::string form, std::string folder);

  /// Fields: "image", and "label", "mask" or "boxes".
  /// @param flip Probability with which the loader's transform flips images: boxes follow.
  [[nodiscard]] dataset_ptr open(const image_options& image, double flip) const;

 private:
  std::string form_;
  std::string folder_;
  test::temporary_directory written_;
  std::vector<std::string> files_;
};

}  // namespace feedline::bench
