#include "staging/device_row_cache.hpp"

#include "detail/arithmetic.hpp"
#include "device/leak.hpp"
#include "staging/slot_layout.hpp"

#include <algorithm>
#include <cstring>

namespace feedline::detail {
namespace {

constexpr std::size_t max_staged_bytes = std::size_t{4} << 20;

/// Rounded up, so that all samples together make `capacity` whole: each adds less than 2^-64 too
/// much.
std::uint64_t unit_of_share(std::uint64_t capacity, std::uint64_t samples) noexcept {
  if (capacity == samples) return 0;  // 1.0 has no such unit, and needs none
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((wide{capacity} << 64) / samples) + 1;
}

std::size_t all_bytes(std::span<const std::span<const std::byte>> rows) noexcept {
  std::size_t bytes = 0;
  for (const auto field : rows) bytes += field.size();
  return bytes;
}

/// The part of a field that is read in place.
rows_in_place find(std::span<const std::byte> field, std::size_t all, std::uint64_t samples,
                   std::size_t granularity) noexcept {
  if (device_row_cache::is_small(field, all)) return {};
  return find_rows_in_place(field, samples, granularity);
}

/// Bytes of the other rows, which are copied.
std::size_t copied_of(std::span<const std::byte> field, const rows_in_place& lie,
                      std::uint64_t samples) noexcept {
  return lie.count == 0 ? field.size() : field.size() / samples * (samples - lie.count);
}

/// Copies host memory of any kind to an address in device memory, piece by piece through a small
/// staging buffer.
void upload(const device_ptr& device, std::span<const std::byte> from, device_memory& memory,
            std::size_t place) {
  constexpr const char* whose = "rows copied to the device";
  const std::size_t piece = std::min(from.size(), max_staged_bytes);
  device_memory staged{device, memory_kind::staging, piece};
  const stream stream{device};
  const event copied{device};
  for (std::size_t at = 0; at < from.size(); at += piece) {
    const std::size_t bytes = std::min(piece, from.size() - at);
    std::memcpy(staged.data(), from.data() + at, bytes);
    device->copy(memory.data() + place + at, staged.data(), bytes, stream.get());
    try {
      device->record(copied.get(), stream.get());
      device->sync(copied.get());
    } catch (...) {
      // Issued work may use both.
      if (!try_record_behind(*device, stream.get(), {copied.get()}) ||
          !sync_before_freeing(*device, copied.get(), whose)) {
        leak(staged, whose);
        leak(memory, whose);
      }
      throw;
    }
  }
}

}  // namespace

device_row_cache::device_row_cache(const device_ptr& device, std::span<const std::size_t> row_bytes,
                                   std::uint64_t samples, std::uint64_t capacity)
    : samples_{samples},
      capacity_{capacity},
      step_{unit_of_share(capacity, samples)},
      memory_{device, memory_kind::device, bytes(row_bytes, capacity)},
      held_(divide_up<std::uint64_t>(capacity, 64)),
      complete_{false} {
  lay_out(row_bytes, true);
}

device_row_cache::device_row_cache(const device_ptr& device, std::span<const std::size_t> row_bytes,
                                   std::uint64_t rows)
    : samples_{rows},
      capacity_{rows},
      memory_{device, memory_kind::device, bytes(row_bytes, rows)},
      complete_{true} {
  lay_out(row_bytes, false);
}

void device_row_cache::lay_out(std::span<const std::size_t> row_bytes, bool keeps) {
  std::size_t at = 0;
  for (const std::size_t row : row_bytes) {
    std::byte* const rows = memory_.data() + at;
    fields_.push_back({rows, keeps ? rows : nullptr, false});
    at += round_up(row * capacity_, slot_layout::alignment);
  }
}

device_row_cache::device_row_cache(const device_ptr& device,
                                   const std::vector<std::span<const std::byte>>& rows,
                                   std::uint64_t samples)
    : samples_{samples}, capacity_{samples}, complete_{true} {
  const std::size_t granularity = device->capabilities().map_granularity;
  const std::size_t copied = copied_bytes(rows, samples, granularity);
  if (copied != 0) memory_ = device_memory{device, memory_kind::device, copied};
  const std::size_t all = all_bytes(rows);
  std::size_t at = 0;
  for (const auto field : rows) map(device, field, find(field, all, samples, granularity), at);
}

void device_row_cache::map(const device_ptr& device, std::span<const std::byte> field,
                           const rows_in_place& lie, std::size_t& at) {
  const std::size_t begin = at;
  std::byte* const apart = memory_.data() + begin;
  at += round_up(copied_of(field, lie, samples_), slot_layout::alignment);
  if (lie.count == 0) {
    fields_.push_back({apart, nullptr, false});
    if (!field.empty()) upload(device, field, memory_, begin);
    return;
  }
  mappings_.emplace_back(device, lie.pages);
  // Address where row 0 would be: the device reads only rows that lie on the mapped pages.
  const std::byte* const row_0 = mappings_.back().address() - (lie.pages.data() - field.data());
  fields_.push_back({row_0,
                     nullptr,
                     true,
                     {.first = static_cast<std::uint32_t>(lie.first),
                      .count = static_cast<std::uint32_t>(lie.count),
                      .apart = apart}});
  const std::size_t row_bytes = field.size() / samples_;
  const auto head = field.first(lie.first * row_bytes);
  const auto tail = field.subspan((lie.first + lie.count) * row_bytes);
  if (!head.empty()) upload(device, head, memory_, begin);
  if (!tail.empty()) upload(device, tail, memory_, begin + head.size());
}

std::size_t device_row_cache::copied_bytes(std::span<const std::span<const std::byte>> rows,
                                           std::uint64_t samples,
                                           std::size_t granularity) noexcept {
  const std::size_t all = all_bytes(rows);
  std::size_t copied = 0;
  for (const auto field : rows)
    copied += round_up(copied_of(field, find(field, all, samples, granularity), samples),
                       slot_layout::alignment);
  return copied;
}

std::size_t device_row_cache::bytes(std::span<const std::size_t> row_bytes,
                                    std::uint64_t capacity) noexcept {
  std::size_t bytes = 0;
  for (const std::size_t row : row_bytes) bytes += round_up(row * capacity, slot_layout::alignment);
  return bytes;
}

void device_row_cache::leak_memory() noexcept {
  leak(memory_, "cached rows");
  for (mapped_memory& each : mappings_) each.leak();
}

void device_row_cache::hold(std::uint32_t row) noexcept {
  if (complete_.load(std::memory_order_relaxed)) return;
  std::atomic<std::uint64_t>& word = held_[row / 64];
  const std::uint64_t bit = std::uint64_t{1} << (row % 64);
  const std::uint64_t before = word.load(std::memory_order_relaxed);
  if ((before & bit) != 0) return;  // a later slot kept it too, before this was known
  word.store(before | bit, std::memory_order_relaxed);
  if (++count_ == capacity_) complete_.store(true, std::memory_order_relaxed);
}

}  // namespace feedline::detail
