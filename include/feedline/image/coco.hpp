#pragma once

#include <feedline/export.hpp>
#include <feedline/image/annotations.hpp>

#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens a detection or key point set in COCO's format: a folder of images, and a JSON file with
/// "images", "annotations" and "categories", as pycocotools reads. Target `feedline::images`.
///
///     auto train = feedline::open_coco(
///         "train2017", "annotations/instances_train2017.json",
///         {.image = {.height = 640, .width = 640}, .flip = 0.5, .skip_flagged = true});
///
/// Samples are the images in order of their ids. Labels count the categories in order of theirs:
/// `classes` has the names, `class_ids` the ids. Boxes become xyxy before they are moved. Flags are
/// "crowd". If annotations have "keypoints", all have as many; an annotation without them has
/// points (0, 0, 0). Segmentations (polygons and RLE), captions and other members are not read: use
/// pycocotools for them. The file is read in pieces, so segmentations take no memory.
/// @param images Folder of the images; `file_name` is a path below it.
/// @throws dataset_error naming the file and the id: no JSON of this format, an id that occurs
/// twice or is no whole number, an annotation of an image or category that does not exist, a
/// box that is not four numbers, an image without a size, and errors of `make_annotated_dataset`.
/// Also if feedline was built without nlohmann-json. @throws usage_error as that function.
[[nodiscard]] annotated_images open_coco(const std::string& images, const std::string& annotations,
                                         const annotation_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
