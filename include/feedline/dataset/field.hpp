#pragma once

#include <feedline/dataset/class_names.hpp>
#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/image_size.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Ties a field to an image of the same sample. A loader refuses transforms that would move one of
/// them without the other.
struct image_tie {
  std::string image;  ///< name of the image's field
  /// Boxes and points: readers have moved them for a left-right flip of the image that has this
  /// probability; so the image's transform must have the same `flip` and the same `moves`, and must
  /// not move pixels otherwise. Empty: pixels, such as a mask, so both transforms must move them
  /// alike. If the field has two extents its values are classes, which no transform may blend.
  std::optional<double> flip = {};
  /// Boxes and points: operations of the image's transform that readers have followed, in the
  /// words of `to_string(field_transform)`. Empty: none.
  std::string moves = {};

  friend bool operator==(const image_tie&, const image_tie&) = default;
};

/// A named component of a sample.
///
///     field{"image", element_type::u8, {28, 28}}   // 784 bytes a sample
///     field{"label", element_type::u8, {}}         // a scalar: 1 byte a sample
struct field {
  std::string name;
  element_type type = element_type::u8;
  /// Shape of one sample, without the batch dimension; empty: a scalar.
  std::vector<std::uint64_t> shape = {};
  std::optional<image_tie> tie = {};  ///< empty: it belongs to no image
  /// Set: height and width differ from batch to batch, and `shape` has the largest of each. Empty:
  /// `shape` is that of every batch.
  std::optional<size_by_batch> by_batch = {};
  /// Labels: names of the classes 0, 1, …; none: values are numbers, or the names are not known. A
  /// loader's state has their fingerprint, and `loader::seek` refuses other names, or another
  /// order.
  class_names classes = {};

  friend bool operator==(const field&, const field&) = default;
};

/// Size of one sample's value: product of the shape times the element's size.
/// @throws usage_error if the product does not fit in 64 bits, or is 0.
[[nodiscard]] std::size_t sample_bytes(const field& field);

/// Shape of one sample in a batch whose images have this size: that of the field, unless its size
/// differs from batch to batch.
[[nodiscard]] std::vector<std::uint64_t> shape_in(const field& field, image_size size);

/// Size of one sample's value in such a batch. @param size Empty: the largest, as in the field's
/// shape. @throws like the other `sample_bytes`.
[[nodiscard]] std::size_t sample_bytes(const field& field, const std::optional<image_size>& size);

/// "image: uint8[28, 28]"; with a tie also the image's name, the flip and the moves. A field whose
/// size differs from batch to batch: "image: uint8[up to 640, up to 640, 3]". Labels with names:
/// "label: int32[] of 2 classes (cat, dog; 5d1c3a0e9b7f2468)".
[[nodiscard]] std::string to_string(const field& field);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
