#include "decoding/block_arrivals.hpp"

#include "decoding/carried_blocks.hpp"
#include "device/leak.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace feedline::detail {
namespace {

/// Bytes between two blocks that cost more to copy than a copy of its own: about 2 us of a bus.
constexpr std::size_t max_copied_gap = std::size_t{128} << 10;

/// Where blocks of a slot are copied to, one after the other. A block may be smaller than its room
/// in the slot: an image file has room for its row, in case that readers decode it. Large gaps are
/// skipped, small ones are copied.
class packed_copies {
 public:
  struct piece {
    std::size_t from;
    std::size_t to;
    std::size_t bytes;
  };

  /// @param to Where the first block is copied to. @param from Its offset in the slot.
  packed_copies(std::size_t to, std::size_t from) noexcept : current_{from, to, 0} {}

  /// Whether a block, the next one, begins a piece.
  [[nodiscard]] bool skips_before(const block_load& next) const noexcept {
    return std::size_t{next.at} * 16 - (current_.from + current_.bytes) > max_copied_gap;
  }
  /// The offset to which the next block is copied.
  std::size_t add(const block_load& next) noexcept {
    const std::size_t from = std::size_t{next.at} * 16;
    if (skips_before(next)) current_ = {from, end(), 0};
    extend(from + block_plan::rounded(next.bytes));
    return moved(from);
  }
  /// Makes the piece reach to an offset in the slot.
  void extend(std::size_t end) noexcept { current_.bytes = end - current_.from; }
  /// The offset to which a byte of the piece is copied.
  [[nodiscard]] std::size_t moved(std::size_t from) const noexcept {
    return current_.to + from - current_.from;
  }
  [[nodiscard]] const piece& current() const noexcept { return current_; }
  /// End of the blocks' room.
  [[nodiscard]] std::size_t end() const noexcept { return current_.to + current_.bytes; }

 private:
  piece current_;
};

}  // namespace

block_arrivals::block_arrivals(const device_ptr& device, const block_plan& plan,
                               std::size_t table_at)
    : fields_{plan.fields},
      table_at_{table_at},
      max_loads_{plan.group * plan.fields},
      max_chunks_{plan.group_chunks},
      chunks_at_{block_plan::table_bytes(max_loads_)},
      table_bytes_{chunks_at_ + block_plan::table_bytes(plan.group_chunks)},
      memory_{device, memory_kind::device, bytes(plan)},
      end_{table_bytes_},
      tables_(table_bytes_) {}

std::uint32_t block_arrivals::add(staging_slot& from, std::uint32_t first, std::uint32_t end,
                                  copy_meter& copies, stream_ref stream) {
  auto* const loads = reinterpret_cast<block_load*>(from.data + table_at_) + first * fields_;
  const auto* const carried = from.work.blocks ? &carried_blocks::of(*from.work.blocks) : nullptr;
  const bool has_extras = carried != nullptr && !carried->extras.empty();
  const std::uint32_t from_chunk =
      has_extras && first != 0 ? carried->extras[first - 1].chunks_end : 0;
  const std::size_t begin = std::size_t{loads->at} * 16;
  const std::size_t most = std::min((end - first) * fields_, max_loads_ - loads_);
  packed_copies fitting{end_, begin};
  std::size_t taken = 0;
  for (; taken < most; taken += fields_) {
    if (has_extras) {
      const carried_blocks::extra& extra = carried->extras[first + taken / fields_];
      if (extra.begins_group && loads_ + taken != 0) break;
      if (chunks_ + extra.chunks_end - from_chunk > max_chunks_) break;
      fitting.extend(extra.end);
    } else {
      for (const block_load& each : std::span{loads + taken, fields_}) fitting.add(each);
    }
    if (fitting.end() > memory_.bytes()) break;
  }
  if (taken == 0) return 0;
  const auto blocks = static_cast<std::uint32_t>(taken / fields_);
  const std::span added{loads, taken};
  packed_copies packed{end_, begin};
  const auto copy = [&](const packed_copies::piece& one) {
    copies.copy(memory_.data() + one.to, from.data + one.from, one.bytes, stream);
  };
  if (has_extras) packed.extend(carried->extras[first + blocks - 1].end);
  for (block_load& each : added) {
    if (!has_extras && packed.skips_before(each)) copy(packed.current());
    each.at = static_cast<std::uint32_t>(
        (has_extras ? packed.moved(std::size_t{each.at} * 16) : packed.add(each)) / 16);
  }
  copy(packed.current());
  append(added, loads_ * sizeof(block_load), copies, stream);
  loads_ += taken;
  if (has_extras) {
    const std::uint32_t chunks = carried->extras[first + blocks - 1].chunks_end - from_chunk;
    auto* const table = reinterpret_cast<block_load*>(
        from.data + table_at_ + block_plan::table_bytes(carried->loads * fields_));
    const std::span of_chunks{table + from_chunk, chunks};
    for (block_load& each : of_chunks)
      each.at = static_cast<std::uint32_t>(packed.moved(std::size_t{each.at} * 16) / 16);
    if (chunks != 0) append(of_chunks, chunks_at_ + chunks_ * sizeof(block_load), copies, stream);
    chunks_ += chunks;
    for (std::uint32_t i = first; i < first + blocks; ++i)
      replaces_end_ = std::max(replaces_end_, carried->extras[i].replaces_end);
  }
  end_ = packed.end();
  return blocks;
}

void block_arrivals::append(std::span<const block_load> loads, std::size_t at, copy_meter& copies,
                            stream_ref stream) {
  copies.copy(memory_.data() + at, loads.data(), loads.size_bytes(), stream);
  std::memcpy(tables_.data() + at, loads.data(), loads.size_bytes());
}

block_decoder::work block_arrivals::content() const noexcept {
  return {.copy_destination = memory_.data(),
          .staged = tables_.data(),
          .loads_at = 0,
          .loads = static_cast<std::uint32_t>(loads_),
          .chunk_loads_at = chunks_at_,
          .chunk_loads = static_cast<std::uint32_t>(chunks_)};
}

void block_arrivals::clear() noexcept {
  loads_ = 0;
  chunks_ = 0;
  replaces_end_ = 0;
  end_ = table_bytes_;
}

void block_arrivals::leak_memory() noexcept {
  leak(memory_, "blocks to be decoded");
}

}  // namespace feedline::detail
