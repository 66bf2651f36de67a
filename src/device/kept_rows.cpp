#include "device/kept_rows.hpp"

#include "detail/arithmetic.hpp"
#include "staging/slot_layout.hpp"

namespace feedline::detail {
namespace {

/// Rounded up, so that all samples together make `capacity` whole: each adds less than 2^-64 too much.
std::uint64_t step(std::uint64_t capacity, std::uint64_t samples) noexcept {
  if (capacity == samples) return 0;  // 1.0 has no such unit, and needs none
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((wide{capacity} << 64) / samples) + 1;
}

}  // namespace

kept_rows::kept_rows(const device_ptr& device, std::span<const std::size_t> row_bytes,
                     std::uint64_t samples, std::uint64_t capacity)
    : samples_{samples},
      capacity_{capacity},
      step_{step(capacity, samples)},
      memory_{device, memory_kind::device, bytes(row_bytes, capacity)},
      held_(divide_up<std::uint64_t>(capacity, 64)),
      complete_{false} {
  std::size_t at = 0;
  for (const std::size_t row : row_bytes) {
    fields_.push_back(memory_.data() + at);
    offsets_.push_back(at);
    at += round_up(row * capacity, slot_layout::alignment);
  }
}

kept_rows::kept_rows(const device_ptr& device, const std::vector<std::span<const std::byte>>& rows,
                     std::uint64_t samples)
    : samples_{samples}, capacity_{samples}, complete_{true} {
  for (const auto field : rows) {
    mappings_.emplace_back(device, field);
    fields_.push_back(mappings_.back().address());
  }
}

std::size_t kept_rows::bytes(std::span<const std::size_t> row_bytes,
                             std::uint64_t capacity) noexcept {
  std::size_t bytes = 0;
  for (const std::size_t row : row_bytes) bytes += round_up(row * capacity, slot_layout::alignment);
  return bytes;
}

void kept_rows::hold(std::uint32_t row) noexcept {
  if (complete_.load(std::memory_order_relaxed)) return;
  std::atomic<std::uint64_t>& word = held_[row / 64];
  const std::uint64_t bit = std::uint64_t{1} << (row % 64);
  const std::uint64_t before = word.load(std::memory_order_relaxed);
  if ((before & bit) != 0) return;  // a slot behind it kept it too, before this was known
  word.store(before | bit, std::memory_order_relaxed);
  if (++count_ == capacity_) complete_.store(true, std::memory_order_relaxed);
}

std::byte* kept_rows::keeping(std::size_t place) const noexcept {
  return on_host() ? nullptr : memory_.data() + offsets_[place];
}

}  // namespace feedline::detail
