#pragma once

#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "staging/request_layout.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

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

/// What a slot, staging or device, is filled with: the batches of one ticket.
struct slot_work {
  std::shared_ptr<epoch_run> run;
  feedline::ticket ticket = {};
  position first = {};            ///< of its first sample, in the epoch's order
  std::uint64_t first_batch = 0;  ///< number within the epoch
  std::uint64_t samples = 0;
  std::uint64_t batches = 0;
  request_layout layout{1, 1};  ///< how it is cut into requests

  [[nodiscard]] std::uint32_t requests() const noexcept {
    return static_cast<std::uint32_t>(layout.requests(samples));
  }
  /// Where a stage is that fails at one of its batches.
  [[nodiscard]] stage_location at(feedline::stage stage, std::uint64_t batch = 0) const noexcept {
    return {.stage = stage,
            .epoch = run->epoch,
            .ticket = ticket.value,
            .batch = first_batch + batch,
            .path = {}};
  }
};

}  // namespace feedline::detail
