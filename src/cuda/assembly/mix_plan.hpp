#pragma once

#include <feedline/device/assembly.hpp>

#include "cuda/assembly/assembly_plan.hpp"
#include "detail/divider.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Vectors of each partner's row that a warp mixes together: what is drawn for the two is shared by
/// as many.
inline constexpr std::uint32_t mixed_vectors = 512;

/// The mixing of one field, which comes behind all other parts: an item is some vectors of two
/// partners' rows, which are numbered pair after pair. Its `vector_bytes` are 16, or an element's.
struct mix_part : assembly_part {
  pair_mixing by = {};
  element_type type = element_type::f32;
  bool cuts = false;                ///< boxes of it; else it is weighed
  std::uint32_t elements = 0;       ///< of a row
  std::uint32_t item_elements = 1;  ///< of an item, but for a row's last
  divider line = {};                ///< by the elements of a line
  divider plane = {};               ///< by the lines of a plane
  divider batch_pairs = {};         ///< by the pairs of a batch that is full
};

/// Image and label.
struct mix_parts {
  std::array<mix_part, 2> parts = {};
  std::size_t count = 0;
};

/// Cuts the mixing of a slot into parts; `first_block` is the launch's to say. None where no sample
/// has a partner, or none is to be mixed.
/// @throws usage_error as `plan_frame`.
[[nodiscard]] mix_parts plan_mixing(const assembly& work);

}  // namespace feedline::detail
