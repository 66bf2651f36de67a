#include "decoding/block_arrivals.hpp"

#include "device/leak.hpp"

#include <algorithm>
#include <span>

namespace feedline::detail {

block_arrivals::block_arrivals(const device_ptr& device, const block_plan& plan,
                               std::size_t table_at)
    : fields_{plan.fields},
      table_at_{table_at},
      max_loads_{plan.group * plan.fields},
      table_bytes_{block_plan::table_bytes(max_loads_)},
      memory_{device, memory_kind::device, bytes(plan)},
      end_{table_bytes_} {
  loads_.reserve(max_loads_);
}

std::uint32_t block_arrivals::add(staging_slot& from, std::uint32_t first, std::uint32_t end,
                                  copy_meter& copies, stream_ref stream) {
  auto* const loads = reinterpret_cast<block_load*>(from.data + table_at_) + first * fields_;
  const std::size_t begin = std::size_t{loads->at} * 16;
  const std::size_t most = std::min((end - first) * fields_, max_loads_ - loads_.size());
  std::size_t bytes = 0;
  std::size_t taken = 0;
  for (; taken < most; taken += fields_) {
    const block_load& last = loads[taken + fields_ - 1];
    const std::size_t more = std::size_t{last.at} * 16 + block_plan::rounded(last.bytes) - begin;
    if (end_ + more > memory_.bytes()) break;
    bytes = more;
  }
  if (taken == 0) return 0;
  const std::span added{loads, taken};
  copies.copy(memory_.data() + end_, from.data + begin, bytes, stream);
  for (block_load& each : added)
    each.at = static_cast<std::uint32_t>((std::size_t{each.at} * 16 - begin + end_) / 16);
  copies.copy(memory_.data() + loads_.size() * sizeof(block_load), loads, added.size_bytes(),
              stream);
  loads_.insert(loads_.end(), added.begin(), added.end());
  end_ += bytes;
  return static_cast<std::uint32_t>(taken / fields_);
}

block_decoder::work block_arrivals::content() const noexcept {
  return {.copy_destination = memory_.data(),
          .staged = reinterpret_cast<const std::byte*>(loads_.data()),
          .loads_at = 0,
          .loads = static_cast<std::uint32_t>(loads_.size())};
}

void block_arrivals::clear() noexcept {
  loads_.clear();
  end_ = table_bytes_;
}

void block_arrivals::leak_memory() noexcept {
  leak(memory_, "blocks to be decoded");
}

}  // namespace feedline::detail
