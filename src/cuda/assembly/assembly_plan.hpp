#pragma once

#include <feedline/device/assembly.hpp>

#include "cuda/assembly/tile_plan.hpp"
#include "detail/divider.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// What an assembly's kernels are told, by value: everything that can be worked out once is worked
// out on the host.

/// What all fields of an assembly share.
struct slot_frame {
  const std::byte* landing_buffer = nullptr;
  const std::uint32_t* sources = nullptr;      ///< null: sample i's row is row i
  const std::uint32_t* random_bits = nullptr;  ///< null: none
  const std::uint32_t* directory = nullptr;
  std::size_t batch_bytes = 0;
  divider batch_size;
  divider run_samples;
  std::uint32_t runs_per_batch = 0;
  std::uint32_t entry_words = 0;  ///< of the directory
};

/// What a part of the work does.
enum class part_kind : std::uint8_t {
  copy,     ///< samples' rows into the slot, by vectors
  keep,     ///< chunks' rows into the kept ones, by vectors
  convert,  ///< elements that stay in their order, by groups of elements of the slot
  widen,    ///< those of one byte, by wide groups
  tile,     ///< images whose elements move, by tiles
  single,   ///< those that no tile holds, by groups of elements of the slot, one after the other
  scatter,  ///< all, by lines of the source: each is read once
  fill,     ///< the elements of the slot that `scatter` finds no source for
  one_hot,  ///< by groups of elements of the slot
  cast,     ///< whole numbers to such, by groups of elements of the slot
  augment,  ///< images with an augmentation: a block `item_tiles` of the slot
  mix,      ///< rows of the slot, two by two: a warp some vectors of both (`mix_part`)
};

/// One field's share of an assembly, or a part of it. Its items (vectors of a row, groups of
/// elements, or tiles) are numbered row after row and dealt out to threads, tiles to warps, so that
/// a block's work is the same whatever the length of a row.
struct assembly_part {
  const std::byte* cached = nullptr;
  field_assembly::rows_in_place in_place = {};  ///< which cached rows lie there
  std::byte* to = nullptr;  ///< the field in the slot's first batch, or row 0 of the cached rows
  std::size_t row_bytes = 0;
  std::size_t to_row_bytes = 0;
  std::uint64_t items = 0;
  divider row_items;  ///< items a row; all below `divider::limit`
  std::uint32_t field = 0;
  std::uint32_t first_block = 0;  ///< of the launch's
  std::uint32_t blocks = 0;
  part_kind kind = part_kind::copy;
  std::uint8_t vector_bytes = 1;  ///< 1, 2, 4, 8 or 16
  bool by_lines = false;          ///< copies and scatters: items are the 16 bytes of lines
};

/// What a GPU asks of the bus at once.
inline constexpr std::uint32_t line_bytes = 128;

/// Elements that a thread converts together.
inline constexpr std::uint32_t group_elements = 4;
/// The same, of one byte each.
inline constexpr std::uint32_t wide_elements = 16;

/// Pixels of an image that a block augments together.
inline constexpr std::uint32_t augment_tile_width = 32;
inline constexpr std::uint32_t augment_tile_height = 64;

/// `field_conversion`, with what else a kernel needs.
struct conversion : field_conversion {
  std::uint32_t to_elements = 1;  ///< of a row
  divider outer = {};       ///< of the batch's row: by channels if they are last, else by a plane
  divider lines = {};       ///< of the batch's row: by its width
  divider from_outer = {};  ///< the same of the dataset's row
  divider from_lines = {};
  tile_shape tiles = {};       ///< of `tile`
  bool straight = false;       ///< element i becomes element i
  bool three_in_turn = false;  ///< its channel is i mod 3, and each has a scale and an offset
  bool aligned_loads = false;  ///< elements of the dataset's rows lie at multiples of their size
  bool group_loads = false;    ///< and groups at multiples of theirs, or of 16
  bool group_stores = false;   ///< groups of the batch's rows likewise, and all are whole
  // Of `augment`:
  divider tiles_across = {};      ///< by the tiles beside each other in an image
  std::uint32_t image_tiles = 1;  ///< of an image
  std::uint32_t item_tiles = 1;   ///< of an item: one, or all of an image
  bool needs_mean = false;        ///< an item is an image, whose mean grey is taken first
};

/// A part of an assembly with all that any kind of part needs.
struct planned_part : assembly_part {
  conversion by = {};  ///< unless it copies or keeps
};

/// Threads of a block, and items that each has under way at once.
inline constexpr std::uint32_t block_threads = 256;
inline constexpr std::uint32_t block_warps = block_threads / warp_threads;
inline constexpr std::uint32_t vectors_a_thread = 4;
inline constexpr std::uint32_t groups_a_thread = 2;

/// Parts that one launch can do: at most 8, and no more than every driver takes as a kernel's
/// parameters, which is 4096 bytes.
template <class Part>
inline constexpr std::uint32_t max_parts = static_cast<std::uint32_t>(
    std::min<std::size_t>(8, (4096 - sizeof(slot_frame) - 16) / sizeof(Part)));

/// The parts that one field makes.
struct field_parts {
  static constexpr std::size_t most = 3;

  std::array<planned_part, most> parts;
  std::size_t count = 0;
};

/// The value, of what a message calls `what`. @throws usage_error if a kernel cannot count so many.
[[nodiscard]] std::uint32_t counted(std::uint64_t value, const char* what);

/// Blocks of a kernel that reads nothing over the bus, at most: each then goes round.
inline constexpr std::uint64_t max_blocks = std::uint64_t{1} << 20;

/// @throws usage_error if something has more than a kernel counts: 2^31 samples, or runs times
/// their samples, or elements or bytes of a row.
[[nodiscard]] slot_frame plan_frame(const assembly& work);

/// Cuts a field's share of the work into parts, each with the widest vectors and the number of
/// blocks that suit it; `first_block` is the launch's to say. @throws as `plan_frame`.
void plan_field(const assembly& work, std::size_t place, field_parts& parts);

/// Whether all fields are copied as they are: a lighter kernel does.
[[nodiscard]] bool only_copies(const assembly& work) noexcept;

}  // namespace feedline::detail
