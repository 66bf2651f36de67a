#pragma once

#include <feedline/batch/batch_transform.hpp>
#include <feedline/export.hpp>
#include <feedline/loader/on_held.hpp>
#include <feedline/loader/tuning_budget.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options that few programs need. The defaults suit most datasets and devices; `loader::plan()`
/// returns the values that the loader chose.
struct expert_options {
  /// Batches in one device slot, which are copied together. 0: one at first, so that the first
  /// batch comes early; then more as long as readers fill a slot within a millisecond, up to
  /// `piece_bytes`, or up to 40 MiB if the device holds all rows.
  std::uint64_t batches_per_slot = 0;
  /// About how many bytes are staged and copied at a time: several batches, or a part of a large
  /// one. 0: 9.5 MiB, or 31 MiB if rows are cached, or `memory.pinned` divided by the number of
  /// staging slots if that is less.
  std::size_t piece_bytes = 0;
  /// About how many bytes one reader fills at a time. 0: 512 KiB, or less if slots are small,
  /// so that a slot has 4 requests for each reader. If samples are on other machines, 640 KiB and
  /// one request, because a reader sleeps until all rows of its request are there.
  std::size_t request_bytes = 0;
  /// Slots of the staging ring, in pinned memory: 2 to 4096. 0: 4, or 3 or 2 if 4 would take more
  /// than 128 MiB.
  std::size_t staging_slots = 0;
  /// Slots of the device ring: 2 to 4096. 0: same as for `staging_slots`. Unused if the consumer
  /// reads staging memory directly.
  std::size_t device_slots = 0;
  /// The policy if the next batch is asked for while every slot has a live batch.
  feedline::on_held on_held = feedline::on_held::error;
  /// With `on_held::allocate`: maximum number of bytes of all further slots at a time; `memory`
  /// limits them, too. 0: a quarter of the free memory of that kind, measured at each allocation.
  std::size_t max_held_bytes = 0;
  /// With `on_held::allocate`: called once with a warning, instead of a log line, by the
  /// thread that takes the batch for which the first further slot is made. It must not throw.
  std::function<void(const std::string&)> held_warning = {};
  /// Your own work on each batch, on its stream, after the transforms and the mixing.
  std::optional<feedline::batch_transform> batch_transform = {};
  /// How long the loader's destruction waits for reads that have not returned. After that it
  /// detaches their threads, which keep the dataset and everything else that they use. 0, or more
  /// than a clock can count: it waits forever.
  std::chrono::milliseconds leave_reads_after = {};
  /// How many activities `loader::trace` keeps of each thread and stream, at most 10,000,000; newer
  /// ones replace older ones. Each takes 40 bytes. 0: there is no trace.
  std::size_t trace_events = 0;
  /// Limits for a loader that finds the best number of readers and staging slots while it works.
  tuning_budget tuning = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
