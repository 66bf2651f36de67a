#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/transform/augmentation.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Meaning of a box's four numbers, as in torchvision's `BoundingBoxFormat`.
enum class box_format : std::uint8_t {
  xyxy,    ///< left, top, right, bottom
  xywh,    ///< left, top, width, height
  cxcywh,  ///< centre's x and y, width, height
};

/// Options for datasets of images with boxes and key points.
struct annotation_options {
  image_options image = {};  ///< decoding, size and window of each image
  box_format format = box_format::xyxy;
  /// Divide boxes and key points by the width and height of the decoded image, so that they are 0
  /// to 1. With `image_fit::pad` and with `sizes`, that is the size of the batch's images; if boxes
  /// are read without images (`select`), it is the largest size. Off: they are in pixels of the
  /// decoded image.
  bool normalized = false;
  /// Probability of a left-right flip. The loader's transform of field "image" must have the same
  /// (`field_transform::flip`), or the loader refuses it: readers flip coordinates, and the device
  /// flips pixels. With `image_fit::pad` readers flip both, and the transform has no flip.
  double flip = 0.0;
  /// Key points that a flip exchanges, as pairs of their indices: {{1, 2}, {3, 4}} if point 1 is a
  /// left eye, 2 the right one, and so on. Empty: each keeps its index, as in torchvision.
  std::vector<std::array<std::uint64_t, 2>> flip_pairs = {};
  /// Random moves. The loader's transform of field "image" must have the same
  /// (`field_transform::affine`, `perspective`) and must not resize the image, or the loader
  /// refuses it. A box becomes the smallest box around its moved corners.
  std::optional<random_affine> affine = {};
  std::optional<random_perspective> perspective = {};
  /// A box is dropped, with its label and points, if less than this share of its area is visible in
  /// the sample. 0: a box is dropped if no part of it is visible.
  double min_visible = 0.0;
  std::uint64_t max_boxes = 0;            ///< L; 0: the largest number of boxes of an image
  pad_longer longer = pad_longer::error;  ///< handling of an image with more boxes
  bool skip_flagged = false;  ///< leave out boxes that are flagged: crowds (COCO), difficult (VOC)
  bool skip_empty = false;    ///< leave out images without a box
};

/// An image with its boxes.
struct annotated_image {
  std::string path;
  std::int64_t id = 0;  ///< field "image_id"
  /// Size of the decoded image before it is resized, turned if `image_options::follow_orientation`
  /// is set. Both 0: the size in the file's header, which is read when the dataset is made.
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::array<float, 4>> boxes = {};  ///< xyxy, in pixels of the image
  std::vector<std::int32_t> labels = {};         ///< one for each box, 0 or more
  std::vector<std::uint8_t> flags = {};          ///< one for each box, or none
  /// Key points of each box: x, y, visibility (0: not labelled, 1: hidden, 2: visible). All boxes
  /// have the same number of points, which may be 0.
  std::vector<float> keypoints = {};
};

/// Images with boxes as a dataset.
struct annotated_images {
  /// Fields, where L is the largest number of boxes, and (h, w) the size of `image_options`:
  /// - "image": u8[h, w, 3], as `make_image_decoder` gives it
  /// - "image_size": i32[2], with `image_fit::letterbox` and `pad`: height and width of the image
  ///   within its sample
  /// - "image_id": i64; "size": i32[2], height and width of the image before it is cut
  /// - "boxes": f32[L, 4]; the first "boxes_length" (i32) are used, the others are 0
  /// - "labels": i32[L]; the unused ones are -1
  /// - "flags": u8[L], if images have flags; its name is "crowd" with COCO, and "difficult" with
  ///   VOC
  /// - "keypoints": f32[L, K, 3], if images have them
  dataset_ptr dataset;
  std::vector<std::string> classes = {};     ///< names of the labels 0, 1, …, if known
  std::vector<std::int64_t> class_ids = {};  ///< COCO: category of each label
  std::vector<std::string> paths = {};       ///< file of each sample
  std::uint64_t clipped_boxes = 0;           ///< boxes that extend beyond their images
  std::uint64_t dropped_boxes = 0;           ///< boxes without an area, which are left out
  std::vector<std::string> examples = {};    ///< messages about the first of both, at most 10
};

/// Makes a dataset of images with boxes, labels and key points from any source. Target
/// `feedline::images`. `open_coco` and `open_voc` read files of these formats.
///
/// Boxes and points follow their image: its resize, cut and `resized_crop`, the flip and the moves.
/// Boxes are clipped to the sample. If too little of a box is left (`min_visible`), it is dropped
/// with its label, flag and points. A point that is not labelled, or is outside of the sample,
/// becomes (0, 0, 0). Values are those of torchvision's v2 functions. As in torchvision, a flip
/// moves a point to W - 1 - x, and exchanges left and right points only if `flip_pairs` lists them.
/// All values depend only on (seed, epoch, sample), so they are the same for any number of readers,
/// and after resuming. Outside of a loader nothing is flipped or moved.
///
/// Devices decode images as for `open_image_folder`. Readers compute boxes. Boxes can be read
/// without images: `select(dataset, {"boxes", "boxes_length", "labels"})`.
/// @throws dataset_error naming path and id: a file that does not exist or whose size cannot be
/// read, an id that occurs twice, a box that is not finite, of negative size or outside its image,
/// a point that is not finite, numbers of labels, flags or points that differ from the number of
/// boxes; more than `max_boxes` boxes. When read: an image of another size than given, errors of
/// `make_image_decoder`.
/// @throws usage_error if there is no image, or options are out of their range.
[[nodiscard]] annotated_images make_annotated_dataset(const std::vector<annotated_image>& images,
                                                      const annotation_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
