#pragma once

#include <feedline/index.hpp>

#include "dataset/window_blocks.hpp"
#include "decoding/block_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace feedline::detail {

/// A sample that the device cuts out of chunks, and the chunks that it must be sent for it.
struct planned_window {
  /// A chunk that is not in device memory yet.
  struct chunk {
    std::uint32_t array = 0;
    std::uint32_t place = 0;
    std::uint64_t number = 0;
    encoded_blocks::stored_block stored = {};
  };
  /// For each field its block: a `window_block` and its boxes; empty: it is no window.
  std::vector<std::vector<std::byte>> blocks = {};
  std::vector<chunk> chunks = {};
  /// Whether a chunk replaces one that samples of the same group may need. Then a new group begins.
  bool begins_group = false;
  /// End of the samples that used the chunks which are replaced, among the pass's samples.
  std::uint64_t replaces_end = 0;
  std::size_t bytes = 0;  ///< in a staging slot: blocks of all fields, and chunks
};

/// Knows which chunks are in device memory when each sample is cut out, and chooses those that new
/// ones replace: the least recently used.
///
/// Samples are planned in the order in which they are decoded, a group at once: first all chunks of
/// the group, then the group's samples are cut out. So a chunk must not be replaced by one of the
/// same group: if there is no other, a new group begins. Threads: one.
class window_planner {
 public:
  /// @param plan Sized; it has windows.
  explicit window_planner(std::shared_ptr<const block_plan> plan);

  /// Begins an epoch pass: no chunk is known to be in device memory.
  /// @param first Index of the next sample in the epoch's order of blocks.
  void begin_pass(std::uint64_t first) noexcept;
  /// Plans the next sample. @param context Its `sample` may be `block_order::none`.
  void plan(const sample_context& context, planned_window& out);

 private:
  /// Slots of an array's chunks.
  struct array_places {
    struct place {
      std::uint64_t chunk = window_blocks::no_chunk;
      std::uint64_t use_end = 0;  ///< end of the samples of this pass that used it
      std::list<std::uint32_t>::iterator turn = {};
    };
    std::vector<place> places = {};
    std::list<std::uint32_t> turns = {};  ///< least recently used first
    std::unordered_map<std::uint64_t, std::uint32_t> known = {};
  };

  /// Slot of a chunk; if it is not there, one is chosen, and the chunk is added to `out`.
  std::uint32_t place_of(std::uint32_t array, std::uint64_t chunk, planned_window& out);

  std::shared_ptr<const block_plan> plan_;
  std::shared_ptr<const encoded_blocks> chunks_;
  std::vector<array_places> arrays_ = {};
  window_blocks::recipe recipe_ = {};
  std::uint64_t end_ = 0;          ///< end of the planned samples in the order of blocks
  std::uint64_t group_begin_ = 0;  ///< first sample of the group, or one before it
};

}  // namespace feedline::detail
