#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>
#include <feedline/transform/mixing.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Mixing of samples 2i and 2i + 1 of each batch, after their rows were written to the slot. If the
/// number of samples is odd, the last one is not mixed. `draws` says whose random bits are used:
/// a sample's own, those of the first of two partners, or those of the batch.
struct pair_mixing {
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t image = none;                     ///< index of the field in the assembly
  std::size_t label = none;                     ///< same; `none`: labels are not mixed
  element_type image_type = element_type::f32;  ///< type of the batch's rows: f32, f16 or bf16
  element_type label_type = element_type::f32;
  /// Height of the image; a row consists of planes with this many lines.
  std::uint32_t height = 1;
  std::uint32_t width = 1;  ///< pixels in a line
  /// Adjacent elements of a pixel: all channels if they are last, else 1.
  std::uint32_t pixel_elements = 1;
  std::uint64_t mixed_below = 0;  ///< a sample is mixed if a 32-bit draw is below this
  /// A mixed sample is cut (a box) if another draw is below this.
  std::uint64_t cut_below = 0;
  mixing_draws draws = mixing_draws::sample;
  float inverse_mixup_alpha = 1.0F;  ///< 1 / alpha
  float inverse_cutmix_alpha = 1.0F;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
