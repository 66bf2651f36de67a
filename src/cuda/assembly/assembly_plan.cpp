// Over 250 lines: the functions that plan a field's parts, one short function a kind, share the
// helpers at the top.

#include "cuda/assembly/assembly_plan.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace feedline::detail {
namespace {

/// Blocks that read rows unchanged over the bus, by lines: this many keep the bus full, and leave
/// the other multiprocessors to the consumer's kernels.
constexpr std::uint32_t max_bus_line_blocks = 8;
/// The same for rows that are read element by element: a block has fewer such reads in flight.
constexpr std::uint32_t max_bus_element_blocks = 16;
/// Blocks that also convert the rows, which takes a block longer; more blocks slow each other down.
constexpr std::uint32_t max_bus_blocks = 64;
/// Rows of fewer lines are read element by element over the bus: whole lines would mostly hold
/// other rows.
constexpr std::size_t fewest_lines = 2;

/// Number of runs that hold samples.
std::uint64_t run_count(const assembly& work) noexcept {
  const std::uint64_t last = work.samples - 1;
  return last / work.batch_size * work.runs_per_batch + last % work.batch_size / work.run_samples +
         1;
}

struct pace {
  std::uint32_t items_a_thread;
  std::uint64_t max_blocks;
  std::uint32_t threads_an_item = 1;
};

void set_items(assembly_part& part, std::uint64_t rows, std::uint64_t row_items, pace pace) {
  part.row_items = divide_by(row_items);
  part.items = rows * row_items;
  part.blocks = static_cast<std::uint32_t>(
      std::min(divide_up(part.items * pace.threads_an_item,
                         std::uint64_t{block_threads} * pace.items_a_thread),
               pace.max_blocks));
}

/// Makes a part go through its rows by vectors.
void set_vectors(assembly_part& part, std::uint64_t rows, std::size_t vector_bytes) {
  part.vector_bytes = static_cast<std::uint8_t>(vector_bytes);
  set_items(part, rows, part.row_bytes / vector_bytes, {vectors_a_thread, max_blocks});
}

/// Whether a field's rows are to be read by lines.
bool is_for_lines(const field_assembly& field) noexcept {
  return field.cached_on_host && field.row_bytes >= fewest_lines * line_bytes;
}

/// Makes a part go through its rows by the largest number of lines that a row can touch, wherever
/// it begins.
void set_lines(assembly_part& part, std::uint64_t rows, std::size_t alignment, pace pace) {
  const std::uint64_t lines =
      divide_up<std::uint64_t>(part.row_bytes + line_bytes - alignment, line_bytes);
  part.by_lines = true;
  set_items(part, rows, lines * (line_bytes / widest_vector), pace);
}

assembly_part of_field(const assembly& work, std::size_t place, part_kind kind) {
  const field_assembly& field = work.fields[place];
  assembly_part part;
  part.cached = field.cached;
  part.in_place = field.in_place;
  part.to = kind == part_kind::keep ? field.keep : work.slot + field.to_offset;
  part.row_bytes = field.row_bytes;
  part.cached_row_bytes = field.cached_distance();
  part.to_row_bytes = field.to_row_bytes;
  part.field = static_cast<std::uint32_t>(field.rows_of(place));
  part.kind = kind;
  return part;
}

assembly_part plan_copy(const assembly& work, std::size_t place) {
  const field_assembly& field = work.fields[place];
  assembly_part part = of_field(work, place, part_kind::copy);
  const std::size_t vector = std::min(source_alignment(work, field), target_alignment(work, field));
  set_vectors(part, work.samples, vector);
  if (is_for_lines(field))
    set_lines(part, work.samples, source_alignment(work, field),
              {vectors_a_thread, max_bus_line_blocks});
  else if (field.cached_on_host)
    part.blocks = std::min(part.blocks, max_bus_element_blocks);
  return part;
}

assembly_part plan_keep(const assembly& work, std::size_t place) {
  const field_assembly& field = work.fields[place];
  assembly_part part = of_field(work, place, part_kind::keep);
  const std::size_t vector =
      std::min(source_alignment(work, field), common_alignment(address(field.keep)));
  set_vectors(part, run_count(work) * work.run_samples, vector);
  return part;
}

/// The number by which an element's index is divided first: see `pixel_of`.
divider outer_of(bool channels_last, std::uint32_t channels, std::uint32_t height,
                 std::uint32_t width) {
  return divide_by(channels_last ? channels : std::uint64_t{height} * width);
}

/// Whether element i of the batch's row is element i of the dataset's.
bool is_straight(const row_conversion& conversion) noexcept {
  const bool whole = conversion.padding == 0 && conversion.to_height == conversion.height &&
                     conversion.to_width == conversion.width;
  const bool same_layout = conversion.channels_last == conversion.to_channels_last ||
                           conversion.channels == 1 ||
                           std::uint64_t{conversion.height} * conversion.width == 1;
  return whole && same_layout && conversion.flip_below == 0;
}

/// Whether the field can be converted by wide groups: the elements of each are of one channel,
/// or of three in turn.
bool is_wide(const assembly& work, const field_assembly& field, const conversion& by) noexcept {
  if (!by.straight || size_bytes(by.from) != 1 || by.to_elements % wide_elements != 0) return false;
  if (std::min(source_alignment(work, field), target_alignment(work, field)) < widest_vector)
    return false;
  if (!by.per_channel || by.channels == 1 || by.three_in_turn) return true;
  return !by.to_channels_last && std::uint64_t{by.height} * by.width % wide_elements == 0;
}

conversion plan_conversion(const assembly& work, const field_assembly& field) {
  const row_conversion& without_operations = field.conversion;
  conversion by{without_operations};
  const std::size_t from_bytes = size_bytes(by.from);
  const std::size_t to_bytes = size_bytes(by.to);
  by.to_elements = counted(field.to_row_bytes / to_bytes, "elements in a row");
  by.outer = outer_of(by.to_channels_last, by.channels, by.to_height, by.to_width);
  by.lines = divide_by(by.to_width);
  by.from_outer = outer_of(by.channels_last, by.channels, by.height, by.width);
  by.from_lines = divide_by(by.width);
  by.straight = by.what != field_conversion::operation::one_hot && is_straight(by);
  by.three_in_turn = by.straight && by.per_channel && by.to_channels_last && by.channels == 3;
  const std::size_t alignment = source_alignment(work, field);
  const bool whole_groups = by.to_elements % group_elements == 0;
  by.aligned_loads = alignment >= from_bytes;
  by.group_loads =
      whole_groups && alignment >= std::min(group_elements * from_bytes, widest_vector);
  by.group_stores = whole_groups && target_alignment(work, field) >= group_elements * to_bytes;
  return by;
}

/// A part that goes through the slot's rows by groups of elements.
assembly_part plan_groups(const assembly& work, std::size_t place, part_kind kind,
                          const conversion& by) {
  const bool on_host = work.fields[place].cached_on_host;
  assembly_part part = of_field(work, place, kind);
  const bool is_wide = kind == part_kind::widen;
  const std::uint32_t groups = kind == part_kind::convert || is_wide ? groups_a_thread : 1;
  set_items(part, work.samples, divide_up(by.to_elements, is_wide ? wide_elements : group_elements),
            {groups, on_host && kind != part_kind::fill ? max_bus_blocks : max_blocks});
  return part;
}

/// A part for images whose elements move.
planned_part plan_moves(const assembly& work, std::size_t place, conversion by) {
  const field_assembly& field = work.fields[place];
  const auto tiles = plan_tiles(by, source_alignment(work, field), target_alignment(work, field));
  if (!tiles) return {plan_groups(work, place, part_kind::single, by), by};
  by.tiles = *tiles;
  assembly_part part = of_field(work, place, part_kind::tile);
  set_items(part, work.samples, tile_count(by, *tiles),
            {1, field.cached_on_host ? max_bus_blocks : max_blocks, warp_threads});
  return {part, by};
}

/// A part for images whose pixels are computed.
planned_part plan_augment(const assembly& work, std::size_t place, conversion by) {
  const field_conversion& conversion = work.fields[place].conversion;
  const std::uint32_t across = divide_up(by.to_width, augment_tile_width);
  by.tiles_across = divider{across};
  by.image_tiles = across * divide_up(by.to_height, augment_tile_height);
  by.to_channels = conversion.to_channels();
  by.item_tiles = conversion.operations.needs_image ? std::min(by.image_tiles, max_item_tiles) : 1;
  assembly_part part = of_field(work, place,
                                conversion.operations.wide    ? part_kind::wide
                                : conversion.operations.steps ? part_kind::steps
                                                              : part_kind::augment);
  set_items(part, work.samples, divide_up(by.image_tiles, by.item_tiles),
            {1, work.fields[place].cached_on_host ? max_bus_blocks : max_blocks, block_threads});
  return {part, by};
}

}  // namespace

std::uint32_t counted(std::uint64_t value, const char* what) {
  if (value < divider::limit) return static_cast<std::uint32_t>(value);
  throw usage_error{std::to_string(value) + " " + what +
                    ": a slot that is assembled on a GPU has fewer than " +
                    std::to_string(divider::limit)};
}

slot_frame plan_frame(const assembly& work) {
  (void)counted(work.samples, "samples");
  const std::uint64_t runs = run_count(work);
  if (work.keeps) {
    const auto rows = checked_multiply(runs, work.run_samples);
    (void)counted(rows.value_or(std::numeric_limits<std::uint64_t>::max()), "rows in runs");
  }
  const auto words_at = [&](std::size_t at) {
    return reinterpret_cast<const std::uint32_t*>(work.copy_destination + at);
  };
  return {.copy_destination = work.copy_destination,
          .sources = words_at(work.sources_at),
          .random_bits = work.varies ? words_at(work.random_bits_at) : nullptr,
          .directory = words_at(work.directory_at),
          .batch_bytes = work.batch_bytes,
          .batch_size = divide_by(work.batch_size),
          .run_samples = divide_by(work.run_samples),
          .runs_per_batch = counted(work.runs_per_batch, "runs in a batch"),
          .entry_words = static_cast<std::uint32_t>(2 + work.fields.size())};
}

void plan_field(const assembly& work, std::size_t place, field_parts& parts) {
  const field_assembly& field = work.fields[place];
  parts.count = 0;
  const auto add = [&](const assembly_part& part, const conversion& by) {
    parts.parts[parts.count++] = {part, by};
  };
  (void)counted(field.row_bytes, "bytes in a row");
  if (work.keeps && field.keep != nullptr) add(plan_keep(work, place), {});
  if (field.conversion.what == field_conversion::operation::copy) {
    add(plan_copy(work, place), {});
    return;
  }

  const conversion by = plan_conversion(work, field);
  if (field.conversion.what == field_conversion::operation::one_hot) {
    add(plan_groups(work, place, part_kind::one_hot, by), by);
  } else if (field.conversion.what == field_conversion::operation::packed) {
    add(plan_groups(work, place, part_kind::packed, by), by);
  } else if (field.conversion.computes_pixels()) {
    parts.parts[parts.count++] = plan_augment(work, place, by);
  } else if (is_whole(field.conversion.to)) {
    add(plan_groups(work, place, part_kind::cast, by), by);
  } else if (is_for_lines(field) && by.aligned_loads) {
    assembly_part part = of_field(work, place, part_kind::scatter);
    set_lines(part, work.samples, source_alignment(work, field), {1, max_bus_blocks});
    add(part, by);
    if (by.padding != 0) add(plan_groups(work, place, part_kind::fill, by), by);
  } else if (by.straight) {
    const part_kind kind = is_wide(work, field, by) ? part_kind::widen : part_kind::convert;
    add(plan_groups(work, place, kind, by), by);
  } else {
    parts.parts[parts.count++] = plan_moves(work, place, by);
  }
}

bool only_copies(const assembly& work) noexcept {
  return std::all_of(work.fields.begin(), work.fields.end(), [](const field_assembly& field) {
    return field.conversion.what == field_conversion::operation::copy;
  });
}

}  // namespace feedline::detail
