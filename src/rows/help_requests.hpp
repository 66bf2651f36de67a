#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// Blocks that readers have still to read, told so that others who would only wait read them first.
/// A list that forgets: of many the last are kept. What is in it is wanted now, for who told of a
/// block takes it back.
///
/// Threads: any number.
class help_requests {
 public:
  static constexpr std::size_t most = 64;

  /// Where a block was told.
  struct place {
    std::uint64_t block;
    std::size_t number;
  };

  help_requests() noexcept {
    for (auto& each : blocks_) each.store(none, std::memory_order_relaxed);
  }

  place tell(std::uint64_t block) noexcept {
    const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed) % most;
    blocks_[number].store(block, std::memory_order_relaxed);
    return {block, number};
  }
  /// Nothing happens if it was taken or forgotten.
  void take_back(const place& told) noexcept {
    std::uint64_t block = told.block;
    blocks_[told.number].compare_exchange_strong(block, none, std::memory_order_relaxed);
  }
  /// Some block, for the caller to read; nothing if none is wanted.
  [[nodiscard]] std::optional<std::uint64_t> take() noexcept {
    for (auto& each : blocks_) {
      if (each.load(std::memory_order_relaxed) == none) continue;
      const std::uint64_t block = each.exchange(none, std::memory_order_relaxed);
      if (block != none) return block;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t none = UINT64_MAX;

  std::array<std::atomic<std::uint64_t>, most> blocks_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace feedline::detail
