#pragma once

#include <atomic>
#include <cstdint>

namespace feedline::detail {

/// One epoch on its way through the pipeline. Shared by the schedule, the slots that hold its
/// batches and its range.
struct epoch_run {
  explicit epoch_run(std::uint64_t number) noexcept : epoch{number} {}

  const std::uint64_t epoch;
  /// Nobody will take its batches: readers need not read them, the transfer need not copy them. Set
  /// once, by the consumer; read by all.
  std::atomic<bool> abandoned{false};
  /// Positions up to here were hinted to the dataset (`read_ahead`), or need not be. Readers.
  std::atomic<std::uint64_t> hinted{0};
  /// Every batch of it was delivered. The consumer's alone.
  bool ended = false;
};

}  // namespace feedline::detail
