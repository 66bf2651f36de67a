#pragma once

#include <feedline/image/annotations.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// The boxes of all images of a dataset, checked. Those of image i are `ends[i - 1]` to `ends[i]`.
struct annotation_table {
  std::vector<std::uint64_t> ends;
  std::vector<std::int64_t> ids;
  std::vector<std::array<std::uint32_t, 2>> sizes;  ///< height, width
  std::vector<std::array<float, 4>> boxes;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> flags;  ///< empty: images have none
  std::vector<float> keypoints;     ///< 3 numbers a point
  std::uint64_t points_per_box = 0;

  [[nodiscard]] std::uint64_t begin_of(std::uint64_t image) const noexcept {
    return image == 0 ? 0 : ends[image - 1];
  }
};

/// A format's names for its parts, in fields and messages.
struct annotation_names {
  std::string flags = "flags";  ///< the field of flags
  /// Says where an image's size is from: "its annotation says".
  std::string size_source = "its annotation says";
};

/// Same as `make_annotated_dataset`, with a format's names.
[[nodiscard]] annotated_images make_annotated(const std::vector<annotated_image>& images,
                                              const annotation_options& given,
                                              const annotation_names& names);

/// Checks images and their boxes, clips boxes to their images, and leaves out what has no area.
/// @param told Is given the counts and the examples. @throws like `make_annotated_dataset`.
[[nodiscard]] annotation_table checked_annotations(const std::vector<annotated_image>& images,
                                                   const annotation_options& options,
                                                   annotated_images& told);

}  // namespace feedline::detail
