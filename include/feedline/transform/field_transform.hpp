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
  std::uint64_t height = 0;   ///< of the window; at most the image's with its padding
  std::uint64_t width = 0;    ///< of the window
  std::uint64_t padding = 0;  ///< zeros (before scale and mean) set around the image first
  bool random = true;         ///< a place of its own for each sample and epoch; else the middle
};

/// What becomes of one field between the dataset and the batch: it crosses the bus as it lies in
/// the dataset and is converted on the device, on the copy side, fused into one kernel a slot.
///
///     {.field = "image", .to = element_type::f32, .scale = 1 / 255.0,
///      .mean = {0.485, 0.456, 0.406}, .stddev = {0.229, 0.224, 0.225},
///      .layout = image_layout::hwc, .to_layout = image_layout::chw,
///      .flip = 0.5, .crop = image_crop{.height = 32, .width = 32, .padding = 4}}
///     {.field = "label", .one_hot = 10}
///     {.field = "label", .to = element_type::i64}
///
/// Each element becomes (value × scale − mean[c]) ÷ stddev[c], computed as one product and one sum
/// in binary32, rounded to nearest even into `to`. Where `to` is an integer or boolean it is cast
/// instead, exactly: a value that `to` does not hold wraps around (modulo 2 to its bits, as in
/// NumPy and PyTorch), and any number but 0 is true; neither scale, mean nor stddev may be set. A
/// crop or resize comes first, then flip, jitter and erasing. All choose by a generator keyed by
/// (`loader_options::seed`, epoch, sample), so that neither placement nor readers change
/// the choice; fields of one sample share it, so that an image and its mask stay aligned.
struct field_transform {
  std::string field;                    ///< of the dataset
  element_type to = element_type::f32;  ///< f32, f16 or bf16; of integers and booleans also those
  double scale = 1.0;
  std::vector<double> mean = {};    ///< for each channel, or one for all; empty: 0
  std::vector<double> stddev = {};  ///< for each channel, or one for all; empty: 1; none is 0
  std::optional<image_layout> layout = {};     ///< empty: no image, the elements are one channel
  std::optional<image_layout> to_layout = {};  ///< of the batch; empty: as it is
  double flip = 0.0;                           ///< probability of a left-right flip
  std::optional<image_crop> crop = {};
  std::optional<image_resize> resize = {};  ///< of this, `resized_crop` and `crop` one at most
  std::optional<random_resized_crop> resized_crop = {};
  std::optional<color_jitter> jitter = {};
  std::optional<random_erasing> erasing = {};
  std::uint64_t one_hot = 0;  ///< classes: a scalar integer field becomes so many elements, 1 at
                              ///< its value, else 0 (all 0 where the value is no class); 0: not
};

/// "image: float32, mean 0.5, flip 0.5": all that is not left at its default. Transforms that do
/// the same may have different texts. Texts are kept across versions (`loader_state`).
[[nodiscard]] std::string to_string(const field_transform& transform);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
