#include "decoding/block_arrivals.hpp"

#include "decoding/carried_blocks.hpp"
#include "device/leak.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace feedline::detail {

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
  std::size_t bytes = 0;
  std::size_t taken = 0;
  for (; taken < most; taken += fields_) {
    const block_load& last = loads[taken + fields_ - 1];
    std::size_t block_end = std::size_t{last.at} * 16 + block_plan::rounded(last.bytes);
    if (has_extras) {
      const carried_blocks::extra& extra = carried->extras[first + taken / fields_];
      if (extra.begins_group && loads_ + taken != 0) break;
      if (chunks_ + extra.chunks_end - from_chunk > max_chunks_) break;
      block_end = extra.end;
    }
    if (end_ + block_end - begin > memory_.bytes()) break;
    bytes = block_end - begin;
  }
  if (taken == 0) return 0;
  const auto blocks = static_cast<std::uint32_t>(taken / fields_);
  copies.copy(memory_.data() + end_, from.data + begin, bytes, stream);
  const auto moved = static_cast<std::ptrdiff_t>(end_) - static_cast<std::ptrdiff_t>(begin);
  append({loads, taken}, loads_ * sizeof(block_load), moved, copies, stream);
  loads_ += taken;
  if (has_extras) {
    const std::uint32_t chunks = carried->extras[first + blocks - 1].chunks_end - from_chunk;
    auto* const table = reinterpret_cast<block_load*>(
        from.data + table_at_ + block_plan::table_bytes(carried->loads * fields_));
    if (chunks != 0)
      append({table + from_chunk, chunks}, chunks_at_ + chunks_ * sizeof(block_load), moved, copies,
             stream);
    chunks_ += chunks;
  }
  end_ += bytes;
  return blocks;
}

void block_arrivals::append(std::span<block_load> loads, std::size_t at, std::ptrdiff_t moved,
                            copy_meter& copies, stream_ref stream) {
  for (block_load& each : loads)
    each.at = static_cast<std::uint32_t>((std::ptrdiff_t{each.at} * 16 + moved) / 16);
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
  end_ = table_bytes_;
}

void block_arrivals::leak_memory() noexcept {
  leak(memory_, "blocks to be decoded");
}

}  // namespace feedline::detail
