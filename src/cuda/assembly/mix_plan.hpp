#pragma once

#include <feedline/backend/assembly.hpp>

#include "cuda/assembly/assembly_plan.hpp"
#include "detail/divider.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Vectors of each partner's row that a warp mixes together; it draws random numbers once for
/// all of them.
inline constexpr std::uint32_t mixed_vectors = 512;

/// The mixing of one field, which runs after all other parts. An item is some vectors of two
/// partners' rows; items are numbered pair after pair. `vector_bytes` is 16, or the size of an
/// element.
struct mix_part : assembly_part {
  pair_mixing by = {};
  element_type type = element_type::f32;
  std::uint32_t epoch_bits = 0;  ///< see `assembly`, like the next one
  std::uint32_t first_batch = 0;
  bool cuts = false;                ///< boxes are cut; else the rows are weighted sums
  std::uint32_t elements = 0;       ///< elements of a row
  std::uint32_t item_elements = 1;  ///< elements of an item, except a row's last item
  divider line = {};                ///< divides by the elements of a line
  divider plane = {};               ///< divides by the lines of a plane
  divider batch_pairs = {};         ///< divides by the pairs of a full batch
};

/// The parts for the image and the label.
struct mix_parts {
  std::array<mix_part, 2> parts = {};
  std::size_t count = 0;
};

/// Cuts the mixing of a slot into parts; the launch sets `first_block`. There are no parts if no
/// sample has a partner, or none is mixed.
/// @throws usage_error like `plan_frame`.
[[nodiscard]] mix_parts plan_mixing(const assembly& work);

}  // namespace feedline::detail
