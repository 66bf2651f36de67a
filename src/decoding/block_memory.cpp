#include "decoding/choice.hpp"
#include "decoding/stage.hpp"
#include "detail/arithmetic.hpp"
#include "staging/device_row_cache.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// The memory of blocks that the device decodes, and how many blocks fit ahead in it.

namespace feedline::detail {
namespace {

/// Most chunks of a call, and their approximate bytes, decoded.
constexpr std::uint64_t max_group_chunks = 2048;
constexpr std::size_t max_group_chunk_bytes = std::size_t{512} << 20;

/// Most groups of windows in flight at once. A chunk is decoded by few threads, so that it takes
/// long, and devices decode thousands as fast as one.
constexpr std::uint32_t max_window_lanes = 8;
/// With more groups, or larger ones, decoding may take these shares of the device's memory. Groups
/// are worth more: each is decoded at the same time as the others.
constexpr std::size_t share_of_more_groups = 8;
constexpr std::size_t share_of_larger_groups = 12;

/// Room for chunks: those of two groups, if no two windows shared one, or fewer.
void size_chunks(block_plan& blocks) {
  const auto arrays = blocks.windows->arrays();
  const auto stored = blocks.windows->chunks();
  std::size_t needed = 0;  // decoded bytes of a window's chunks
  for (const window_blocks::array& each : arrays) needed += each.max_chunks * each.chunk_bytes;
  const std::uint64_t windows = std::clamp<std::uint64_t>(
      blocks.kept_bytes / std::max<std::size_t>(needed, 1), 1, std::uint64_t{2} * blocks.group);
  blocks.chunk_places.clear();
  std::uint64_t all = 0;
  std::size_t largest = 0;  // stored
  std::size_t largest_decoded = 1;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::uint64_t places = std::min(arrays[i].chunks, windows * arrays[i].max_chunks);
    blocks.chunk_places.push_back(static_cast<std::uint32_t>(places));
    all += places;
    largest_decoded = std::max(largest_decoded, arrays[i].chunk_bytes);
    largest = std::max(largest, block_plan::rounded(stored->max_stored_bytes(i)));
  }
  const std::uint64_t one = blocks.max_chunks();
  const std::uint64_t of_call =
      std::min<std::uint64_t>(max_group_chunks, max_group_chunk_bytes / largest_decoded);
  blocks.group_chunks =
      static_cast<std::uint32_t>(std::min({all, blocks.group * one, std::max(of_call, one)}));
  std::size_t rows = 0;
  for (std::size_t field = 0; field < blocks.fields; ++field)
    rows += block_plan::rounded(blocks.max_field_bytes(field));
  blocks.group_bytes = round_up(
      std::max(blocks.max_stored_bytes(), blocks.group * rows + blocks.group_chunks * largest),
      std::size_t{256});
}

std::size_t store_bytes(const block_plan& blocks, std::span<const std::size_t> row_bytes) {
  return device_row_cache::bytes({row_bytes.begin(), row_bytes.end()},
                                 blocks.places * blocks.order.rows());
}

std::uint64_t wanted_ahead(const block_plan& blocks) {
  return std::min(std::uint64_t{blocks.lanes} * blocks.max_group, blocks.order.blocks());
}

block_plan with_lane(block_plan blocks) {
  ++blocks.lanes;
  return blocks;
}

/// Groups of large windows are few samples, which need few chunks that others do not need.
block_plan with_larger_groups(block_plan blocks) {
  const std::uint64_t most = blocks.order.blocks() / block_plan::wanted_groups;
  blocks.max_group = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      blocks.max_group, std::min<std::uint64_t>(most, blocks.max_group / 4 * 5 + 1)));
  return blocks;
}

}  // namespace

void size_store(block_plan& blocks, std::uint64_t slot_samples, std::uint64_t ahead) {
  const std::uint64_t all = blocks.order.blocks();
  const std::uint64_t of_slot = blocks.order.blocks_of(slot_samples);
  blocks.ahead = static_cast<std::uint32_t>(ahead);
  // Few blocks are ahead only if memory is short. One call for each of a slot's blocks would take
  // long.
  blocks.group = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      std::max(ahead / blocks.lanes, of_slot), 1, std::min<std::uint64_t>(blocks.max_group, all)));
  // A block is decoded before the samples of its own slot are assembled. These may begin at a
  // window's end, and use `of_slot` blocks and parts of two; after their end, a window and the
  // blocks ahead are loaded.
  const std::uint64_t most = 2 * blocks.order.max_window() + ahead + 2 * of_slot + 3;
  blocks.places = static_cast<std::uint32_t>(std::min<std::uint64_t>({most, all, 0xFFFF'FFFF}));
  const std::size_t largest = blocks.max_stored_bytes();
  const std::size_t usual = blocks.group * std::min(largest, blocks.usual_bytes / 4 * 5);
  blocks.group_bytes = round_up(std::max(largest, usual), std::size_t{256});
  if (blocks.windows) size_chunks(blocks);
}

decoding_limits limits_of(const loader_options& options, std::optional<std::size_t> slots,
                          std::size_t destination) {
  const std::size_t budget = options.memory.device;
  decoding_limits limits{.store = options.memory.cache};
  if (budget == 0) return limits;
  const bool none_left = !slots || *slots > budget || destination > budget - *slots;
  const std::size_t left = none_left ? 0 : budget - *slots - destination;
  limits.decoder = std::max<std::size_t>(1, std::min(left, budget / 2));
  return limits;
}

block_plan sized(block_plan blocks, std::span<const std::size_t> row_bytes,
                 const device_capabilities& device, const decoding_limits& limits,
                 std::uint64_t slot_samples) {
  const auto fits = [&] {
    return (limits.store == 0 || store_bytes(blocks, row_bytes) <= limits.store) &&
           blocks.places * blocks.order.rows() < assembly::arrived &&
           (limits.decoder == 0 ||
            decoding_stage::device_bytes(blocks, row_bytes, *device.decodes, 0) <= limits.decoder);
  };
  size_store(blocks, slot_samples, wanted_ahead(blocks));
  if (blocks.windows) {
    const auto grows = [&](block_plan more, std::size_t share) {
      const std::uint64_t more_ahead = wanted_ahead(more);
      if (more_ahead == blocks.ahead) return false;  // they are all of the epoch's
      size_store(more, slot_samples, more_ahead);
      const std::size_t bytes = store_bytes(more, row_bytes) +
                                decoding_stage::device_bytes(more, row_bytes, *device.decodes, 0);
      if (bytes > device.memory_bytes / share) return false;
      std::swap(blocks, more);
      if (fits()) return true;
      std::swap(blocks, more);
      return false;
    };
    while (blocks.lanes < max_window_lanes && grows(with_lane(blocks), share_of_more_groups)) {
    }
    while (blocks.lanes == max_window_lanes && blocks.at_once() < max_group_chunks &&
           grows(with_larger_groups(blocks), share_of_larger_groups)) {
    }
  }
  std::uint64_t ahead = blocks.ahead;
  while (ahead > 1 && !fits()) {
    ahead -= divide_up<std::uint64_t>(ahead, 8);
    size_store(blocks, slot_samples, ahead);
  }
  return blocks;
}

std::size_t decoding_choice::answer_bytes(std::size_t device_slots) const noexcept {
  return blocks ? decoding_stage::answer_bytes(device_slots) : 0;
}

decoding_bytes bytes_of(const block_plan& blocks, std::span<const std::size_t> row_bytes,
                        const device_capabilities& device, std::size_t slots) {
  return {.store = store_bytes(blocks, row_bytes),
          .decoder = decoding_stage::device_bytes(blocks, row_bytes, *device.decodes, slots),
          .answers = decoding_stage::answer_bytes(slots),
          .rows = blocks.places * blocks.order.rows()};
}

std::string too_many(const decoding_bytes& decoded, const loader_options& options) {
  if (options.memory.cache != 0 && decoded.store > options.memory.cache)
    return "decoded blocks would take " + std::to_string(decoded.store) +
           " bytes, and memory.cache is " + std::to_string(options.memory.cache) +
           ": raise it, or mix fewer chunks";
  if (decoded.rows >= assembly::arrived)
    return "windows hold " + std::to_string(decoded.rows) +
           " rows, and 2^31 - 1 can be numbered: mix fewer chunks";
  return {};
}

}  // namespace feedline::detail
