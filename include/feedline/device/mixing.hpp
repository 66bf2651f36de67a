#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How samples 2i and 2i + 1 of each batch are mixed, once their rows are in the slot. The last of
/// an odd number is not. Each sample draws from its random bits what becomes of it.
struct pair_mixing {
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t image = none;                     ///< place of the field in the assembly
  std::size_t label = none;                     ///< likewise; none: labels are not mixed
  element_type image_type = element_type::f32;  ///< of the batch's rows: f32, f16 or bf16
  element_type label_type = element_type::f32;
  std::uint32_t height = 1;          ///< of the image; a row is planes of so many lines
  std::uint32_t width = 1;           ///< pixels of a line
  std::uint32_t pixel_elements = 1;  ///< that lie together: all channels if they are last, else 1
  std::uint64_t mixed_below = 0;     ///< a sample is mixed if a 32-bit draw is below it
  std::uint64_t cut_below = 0;       ///< of these, a box is cut if another draw is below it
  float inverse_mixup_alpha = 1.0F;  ///< 1 / alpha
  float inverse_cutmix_alpha = 1.0F;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
