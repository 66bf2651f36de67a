#pragma once

#include <feedline/export.hpp>
#include <feedline/image/annotations.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens a detection set in Pascal VOC's format: folders "JPEGImages" and "Annotations" (a file of
/// XML for each image), and lists of names in "ImageSets/Main". Target `feedline::images`.
///
///     auto train = feedline::open_voc("VOCdevkit/VOC2012", "train", {},
///                                     {.image = {.height = 512, .width = 512}});
///
/// Samples are in the list's order; ids count them from 0. Boxes become xyxy in pixels: VOC's
/// numbers count pixels from 1, so 1 is subtracted from `xmin` and `ymin`. Flags are "difficult".
/// Parts, poses and other members are not read. Masks of segmentation ("SegmentationClass") are
/// opened by `open_joined_images`.
/// @param root    Folder with these three.
/// @param names   List of images: "train" is ImageSets/Main/train.txt, one name a line.
/// @param classes Names of the labels 0, 1, …; empty: VOC's twenty, in alphabetical order.
/// @throws dataset_error naming the file: a list or file of XML that cannot be read, an object
/// without a name or box, a name that is not in `classes`, and errors of `make_annotated_dataset`.
/// Also if feedline was built without pugixml. @throws usage_error as that function, and if
/// `classes` has a name twice.
[[nodiscard]] annotated_images open_voc(const std::string& root, const std::string& names,
                                        const std::vector<std::string>& classes = {},
                                        const annotation_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
