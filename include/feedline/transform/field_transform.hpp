#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/image_layout.hpp>
#include <feedline/export.hpp>
#include <feedline/transform/augmentation.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A window cut out of each image.
struct image_crop {
  std::uint64_t height = 0;   ///< height of the window; at most the image's, including padding
  std::uint64_t width = 0;    ///< width of the window
  std::uint64_t padding = 0;  ///< zeros (before scale and mean) added on each side first
  /// Whether the position is drawn for each sample and epoch; else the window is central.
  bool random = true;
};

/// Conversion of one field between the dataset and the batch. The field crosses the bus
/// unconverted, and is converted on the device, on the copy side, by one fused kernel for each
/// slot.
///
///     {.field = "image", .to = element_type::f32, .scale = 1 / 255.0,
///      .mean = {0.485, 0.456, 0.406}, .stddev = {0.229, 0.224, 0.225},
///      .layout = image_layout::hwc, .to_layout = image_layout::chw,
///      .flip = 0.5, .crop = image_crop{.height = 32, .width = 32, .padding = 4}}
///     {.field = "label", .one_hot = 10}
///     {.field = "label", .to = element_type::i64}
///
/// Each element becomes (value × scale − mean[c]) ÷ stddev[c], computed as one product and one sum
/// in binary32, rounded to nearest even into `to`. If `to` is an integer or boolean, the element is
/// cast exactly: a value out of the range of `to` wraps around (modulo 2 to the number of bits, as
/// in NumPy and PyTorch), and any number except 0 is true. Scale, mean and stddev must not be set
/// then. A crop or resize comes first, then flip, and the members from `affine` to `erasing` in
/// their order. All choose with a generator keyed by (`loader_options::seed`, epoch, sample), so
/// placement and readers do not change the choice. The fields of one sample share it, so an image
/// and its mask stay aligned.
struct field_transform {
  std::string field;  ///< name in the dataset
  /// F32, f16 or bf16. For integers and booleans also an integer or boolean type.
  element_type to = element_type::f32;
  double scale = 1.0;
  std::vector<double> mean = {};    ///< for each channel, or one for all; empty: 0
  std::vector<double> stddev = {};  ///< for each channel, or one for all; empty: 1; none is 0
  /// Empty: not an image; the elements are one channel.
  std::optional<image_layout> layout = {};
  std::optional<image_layout> to_layout = {};  ///< layout in the batch; empty: unchanged
  double flip = 0.0;                           ///< probability of a left-right flip
  std::optional<image_crop> crop = {};
  std::optional<image_resize> resize = {};  ///< at most one of this, `resized_crop` and `crop`
  std::optional<random_resized_crop> resized_crop = {};
  std::optional<random_affine> affine = {};
  std::optional<random_perspective> perspective = {};
  /// At most one of this, `rand_augment`, `auto_augment` and `augmix`.
  std::optional<feedline::trivial_augment_wide> trivial_augment_wide = {};
  std::optional<feedline::rand_augment> rand_augment = {};
  std::optional<feedline::auto_augment> auto_augment = {};
  std::optional<feedline::augmix> augmix = {};
  std::optional<color_jitter> jitter = {};
  std::optional<random_grayscale> grayscale = {};
  std::optional<feedline::gaussian_blur> gaussian_blur = {};
  std::optional<random_invert> invert = {};
  std::optional<random_posterize> posterize = {};
  std::optional<random_solarize> solarize = {};
  std::optional<random_autocontrast> autocontrast = {};
  std::optional<random_equalize> equalize = {};
  std::optional<random_adjust_sharpness> sharpness = {};
  std::optional<random_erasing> erasing = {};
  /// Number of classes. A scalar integer field becomes this many elements: 1 at the index given by
  /// its value, else 0 (all 0 if the value is not a class). 0: no one-hot encoding.
  std::uint64_t one_hot = 0;
};

/// "image: float32, mean 0.5, flip 0.5": all members that differ from their defaults. Transforms
/// with the same effect may have different texts. Texts are kept across versions (`loader_state`).
[[nodiscard]] std::string to_string(const field_transform& transform);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
