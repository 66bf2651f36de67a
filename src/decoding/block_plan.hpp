#pragma once

#include <feedline/backend/block_decoder.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/window_block.hpp>

#include "dataset/window_blocks.hpp"
#include "decoding/block_order.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace feedline::detail {

/// How blocks that the device decodes are sent: fixed for a loader's life.
///
/// The device's store is a ring of `places` slots: the block at index n of an epoch's order goes to
/// slot n mod `places`. It holds the window that batches are drawn from, and the blocks loaded
/// ahead of it. One call decodes a group of blocks, on one of several lanes.
struct block_plan {
  /// Fewest groups of an epoch of windows, so that some are read while others are decoded.
  static constexpr std::uint64_t wanted_groups = 8;

  std::shared_ptr<const encoded_blocks> blocks;
  block_order order;
  std::size_t fields;        ///< number of fields of the dataset
  std::size_t loads_bytes;   ///< bytes of a staging slot for the table of loads and the blocks
  std::uint32_t max_loads;   ///< loads that fit in a staging slot; a load is one field of a block
  std::uint32_t max_group;   ///< blocks of a group, at most
  std::size_t usual_bytes;   ///< typical size of a stored block
  std::uint32_t lanes = 3;   ///< groups that are in flight at once; as many are loaded ahead
  std::uint32_t ahead = 0;   ///< blocks that are loaded beyond what windows need
  std::uint32_t group = 0;   ///< blocks that are decoded at once; these three are 0 until
                             ///< they are decided
  std::uint32_t places = 0;  ///< blocks that the store has room for
  std::size_t group_bytes = 0;    ///< room for a group's blocks as they are stored
  std::vector<bool> varies = {};  ///< for each field, whether rows differ in size; empty: none does
  /// The same blocks, if the device cuts them out of chunks; null: it does not.
  std::shared_ptr<const window_blocks> windows = nullptr;
  /// Number of chunks of each array of `windows` that the device keeps decoded: at least as many as
  /// a block may need.
  std::vector<std::uint32_t> chunk_places = {};
  std::size_t kept_bytes = 0;      ///< limit of these, decoded
  std::uint32_t group_chunks = 0;  ///< chunks that are decoded at once, at most

  /// The most blocks, or chunks of windows, that the device decodes at once.
  [[nodiscard]] std::uint64_t at_once() const noexcept {
    return std::uint64_t{lanes} * (windows ? group_chunks : group);
  }
  /// No block needs more chunks.
  [[nodiscard]] std::uint64_t max_chunks() const noexcept {
    std::uint64_t chunks = 0;
    if (windows)
      for (const window_blocks::array& each : windows->arrays()) chunks += each.max_chunks;
    return chunks;
  }

  /// Bytes of a table of this many loads.
  [[nodiscard]] static constexpr std::size_t table_bytes(std::uint64_t loads) noexcept {
    return (loads * sizeof(block_load) + 255) / 256 * 256;
  }
  /// How a block is stored; an unwritten block has no bytes.
  [[nodiscard]] encoded_blocks::stored_block stored(std::size_t field,
                                                    sample_index block) const noexcept {
    if (block == block_order::none) return {.bytes = 1};
    return blocks->stored(field, block.value);
  }
  /// Bytes that a block takes in a staging slot, all fields. For windows, whose chunks are known
  /// only when their positions are drawn: half of the most.
  [[nodiscard]] std::size_t stored_bytes(sample_index block) const noexcept {
    if (windows) return max_stored_bytes() / 2;
    std::size_t bytes = 0;
    for (std::size_t field = 0; field < fields; ++field)
      bytes += rounded(stored(field, block).bytes);
    return bytes;
  }
  /// No block takes more.
  [[nodiscard]] std::size_t max_stored_bytes() const noexcept {
    std::size_t bytes = 0;
    for (std::size_t field = 0; field < fields; ++field) bytes += rounded(max_field_bytes(field));
    return bytes + max_chunk_bytes();
  }
  /// No block of the field takes more.
  [[nodiscard]] std::size_t max_field_bytes(std::size_t field) const noexcept {
    if (!windows || !windows->is_window(field)) return blocks->max_stored_bytes(field);
    return sizeof(window_block) + windows->max_pieces(field) * sizeof(window_box);
  }
  /// No block takes more for its chunks.
  [[nodiscard]] std::size_t max_chunk_bytes() const noexcept {
    if (!windows) return 0;
    std::size_t bytes = table_bytes(max_chunks());
    const auto chunks = windows->chunks();
    for (std::size_t i = 0; i < windows->arrays().size(); ++i)
      bytes += windows->arrays()[i].max_chunks * rounded(chunks->max_stored_bytes(i));
    return bytes;
  }
  /// Blocks begin at multiples of 16 bytes.
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + 15) / 16 * 16;
  }
};

}  // namespace feedline::detail
