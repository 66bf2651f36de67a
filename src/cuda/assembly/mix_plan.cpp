#include "cuda/assembly/mix_plan.hpp"

#include "cuda/assembly/tile_plan.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

/// Pairs in the slot.
std::uint64_t pair_count(const assembly& work) noexcept {
  return work.samples / work.batch_size * (work.batch_size / 2) +
         work.samples % work.batch_size / 2;
}

mix_part plan_part(const assembly& work, std::size_t place, element_type type, bool cuts) {
  const field_assembly& field = work.fields[place];
  const std::size_t element_bytes = size_bytes(type);
  mix_part part;
  part.kind = part_kind::mix;
  part.field = static_cast<std::uint32_t>(place);
  part.to = work.slot + field.to_offset;
  part.to_row_bytes = field.to_row_bytes;
  part.by = *work.mixing;
  part.epoch_bits = work.epoch_bits;
  part.first_batch = work.first_batch;
  part.type = type;
  part.cuts = cuts;
  part.elements = counted(field.to_row_bytes / element_bytes, "elements in a row");
  const std::size_t vector =
      target_alignment(work, field) == widest_vector ? widest_vector : element_bytes;
  part.vector_bytes = static_cast<std::uint8_t>(vector);
  part.item_elements = static_cast<std::uint32_t>(mixed_vectors * vector / element_bytes);
  part.line = divide_by(cuts ? std::uint64_t{part.by.width} * part.by.pixel_elements : 1);
  part.plane = divide_by(part.by.height);
  part.batch_pairs = divide_by(work.batch_size / 2);
  const std::uint64_t row_items = divide_up<std::uint64_t>(part.elements, part.item_elements);
  part.row_items = divide_by(row_items);
  part.items = pair_count(work) * row_items;
  part.blocks = static_cast<std::uint32_t>(
      std::min(divide_up<std::uint64_t>(part.items, block_warps), max_blocks));
  return part;
}

}  // namespace

mix_parts plan_mixing(const assembly& work) {
  mix_parts planned;
  if (work.mixing == nullptr || work.mixing->mixed_below == 0 || pair_count(work) == 0)
    return planned;
  const pair_mixing& by = *work.mixing;
  const auto add = [&](const mix_part& part) { planned.parts[planned.count++] = part; };
  add(plan_part(work, by.image, by.image_type, true));
  if (by.label != pair_mixing::none) add(plan_part(work, by.label, by.label_type, false));
  return planned;
}

}  // namespace feedline::detail
