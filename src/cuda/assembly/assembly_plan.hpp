#pragma once

#include <feedline/backend/assembly.hpp>

#include "cuda/assembly/tile_plan.hpp"
#include "detail/divider.hpp"
#include "detail/host_device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// The values that an assembly's kernels take as parameters: all that can be computed once is
// computed on the host.

/// Values that all fields of an assembly share.
struct slot_frame {
  const std::byte* copy_destination = nullptr;
  const std::uint32_t* sources = nullptr;      ///< null: sample i's row is row i
  const std::uint32_t* random_bits = nullptr;  ///< null: none
  const std::uint32_t* directory = nullptr;
  std::size_t batch_bytes = 0;
  divider batch_size;
  divider run_samples;
  std::uint32_t runs_per_batch = 0;
  std::uint32_t entry_words = 0;  ///< words in an entry of the directory
};

/// Kinds of parts of the work.
enum class part_kind : std::uint8_t {
  copy,     ///< samples' rows into the slot, by vectors
  keep,     ///< chunks' rows into the cached rows, by vectors
  convert,  ///< elements that stay in their order, by groups of elements of the slot
  widen,    ///< one-byte elements that stay in their order, by wide groups
  tile,     ///< images whose elements move, by tiles
  single,   ///< images that do not fit into tiles, by groups of elements, one after the other
  scatter,  ///< elements read over the bus, by lines of the source: each is read once
  fill,     ///< the elements of the slot that `scatter` finds no source for
  one_hot,  ///< classes to one-hot rows, by groups of elements of the slot
  packed,   ///< offsets of packed rows to values, by groups of elements of the slot
  cast,     ///< integers to integers, by groups of elements of the slot
  augment,  ///< images whose pixels are computed: a block makes `item_tiles` tiles of the slot
  steps,    ///< the same for images that operations change by steps
  wide,     ///< the same for those of wide steps
  mix,      ///< rows of the slot, two by two: a warp mixes some vectors of both (`mix_part`)
};

/// One field's share of an assembly, or a part of it. Its items (vectors of a row, groups of
/// elements, or tiles) are numbered row after row and distributed over threads (tiles over warps),
/// so that a block's work does not depend on the length of a row.
struct assembly_part {
  const std::byte* cached = nullptr;
  field_assembly::rows_in_place in_place = {};  ///< the cached rows that are in host memory
  std::byte* to = nullptr;  ///< the field in the slot's first batch, or row 0 of the cached rows
  std::size_t row_bytes = 0;
  std::size_t cached_row_bytes = 0;  ///< distance of cached rows
  std::size_t to_row_bytes = 0;
  std::uint64_t items = 0;
  divider row_items;  ///< items a row; all below `divider::limit`
  std::uint32_t field = 0;
  std::uint32_t first_block = 0;  ///< the launch's first block for this part
  std::uint32_t blocks = 0;
  part_kind kind = part_kind::copy;
  std::uint8_t vector_bytes = 1;  ///< 1, 2, 4, 8 or 16
  bool by_lines = false;          ///< copies and scatters: an item is 16 bytes of a line
};

/// Bytes that a GPU requests over the bus at once.
inline constexpr std::uint32_t line_bytes = 128;

/// Elements that a thread converts together.
inline constexpr std::uint32_t group_elements = 4;
/// Elements of one byte that a thread converts together.
inline constexpr std::uint32_t wide_elements = 16;

/// Pixels of an image that a block augments together.
inline constexpr std::uint32_t augment_tile_width = 32;
inline constexpr std::uint32_t augment_tile_height = 64;
/// Tiles of an item if samples may need all of an image before its first pixel. Such a sample is
/// made by one block, its image's other items are empty; so items are larger than a tile, and yet
/// small enough that slow samples, which need no image, are made by several blocks.
inline constexpr std::uint32_t max_item_tiles = 4;

/// `row_conversion` and the other values that a kernel needs.
struct conversion : row_conversion {
  std::uint32_t to_elements = 1;  ///< elements of a row
  divider outer = {};             ///< divides by the channels if they are last, else by a plane
  divider lines = {};             ///< divides by the width of the batch's row
  divider from_outer = {};        ///< the same of the dataset's row
  divider from_lines = {};
  tile_shape tiles = {};       ///< for `tile`
  bool straight = false;       ///< element i becomes element i
  bool three_in_turn = false;  ///< element i has channel i mod 3; each channel has scale and offset
  bool aligned_loads = false;  ///< elements of the dataset's rows are aligned to their size
  bool group_loads = false;    ///< groups of the dataset's rows are aligned to their size, or to 16
  bool group_stores = false;   ///< groups of the batch's rows are aligned so too, and all are whole
  // For `augment`:
  std::uint32_t to_channels = 1;  ///< channels of the batch's row
  divider tiles_across = {};      ///< divides by the number of tiles side by side in an image
  std::uint32_t image_tiles = 1;  ///< tiles in an image
  std::uint32_t item_tiles = 1;   ///< tiles in an item; the last of an image may have fewer
};

/// Tiles of an image.
struct tile_range {
  std::uint32_t first;
  std::uint32_t end;
};

/// The tiles that an item makes. @param needs_image Whether the sample needs all of its image
/// before its first pixel: then its first item makes all tiles, the others none.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline tile_range tiles_of_item(const conversion& by,
                                                                   std::uint32_t item,
                                                                   bool needs_image) {
  if (needs_image) return {0, item == 0 ? by.image_tiles : 0};
  const std::uint32_t first = item * by.item_tiles;
  return {first, first + by.item_tiles < by.image_tiles ? first + by.item_tiles : by.image_tiles};
}

/// A part of an assembly with the values that any kind of part needs.
struct planned_part : assembly_part {
  conversion by = {};  ///< not used by parts that copy or keep
};

/// A part of images whose pixels are computed.
struct augment_part : planned_part {
  pixel_operations operations = {};
};

/// Threads of a block, and items that each thread has in flight at once.
inline constexpr std::uint32_t block_threads = 256;
inline constexpr std::uint32_t block_warps = block_threads / warp_threads;
inline constexpr std::uint32_t vectors_a_thread = 4;
inline constexpr std::uint32_t groups_a_thread = 2;

/// Parts that one launch can take: at most 8, and no more than fit into 4096 bytes, the size of
/// kernel parameters that every driver accepts.
template <class Part>
inline constexpr std::uint32_t max_parts = static_cast<std::uint32_t>(
    std::min<std::size_t>(8, (4096 - sizeof(slot_frame) - 16) / sizeof(Part)));

/// The parts that one field makes.
struct field_parts {
  static constexpr std::size_t most = 3;

  std::array<planned_part, most> parts;
  std::size_t count = 0;
};

/// The value as 32 bits. @param what Name of the value in the message. @throws usage_error if a
/// kernel cannot count this many.
[[nodiscard]] std::uint32_t counted(std::uint64_t value, const char* what);

/// Most blocks of a kernel that reads nothing over the bus: with more work, each block loops.
inline constexpr std::uint64_t max_blocks = std::uint64_t{1} << 20;

/// @throws usage_error if something is more than a kernel can count: 2^31 samples, runs times their
/// samples, or elements or bytes of a row.
[[nodiscard]] slot_frame plan_frame(const assembly& work);

/// Cuts a field's share of the work into parts, each with the widest vectors and the number of
/// blocks that suit it; the launch sets `first_block`. @throws like `plan_frame`.
void plan_field(const assembly& work, std::size_t place, field_parts& parts);

/// Whether all fields are copied unchanged: then a lighter kernel is enough.
[[nodiscard]] bool only_copies(const assembly& work) noexcept;

}  // namespace feedline::detail
