#pragma once

#include <feedline/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What the threads of one stage have done, all together, and where their time went.
struct stage_statistics {
  unsigned threads = 0;           ///< of the loader's own, without readers that rest under
                                  ///< tuning; 0: another thread does the work
  std::uint64_t batches = 0;      ///< that have passed the stage
  std::uint64_t samples = 0;      ///< likewise, also of batches that are not whole yet
  std::uint64_t bytes = 0;        ///< reader: read from the dataset; transfer: copied to the
                                  ///< device, without what that read itself; consumer: of the
                                  ///< batches it has taken
  std::uint64_t slots = 0;        ///< that have passed: staging slots; of the others device slots
  std::uint64_t slots_there = 0;  ///< that wait for the stage or are in it now
  std::chrono::nanoseconds latency{};      ///< of all these slots together
  std::chrono::nanoseconds max_latency{};  ///< of the slowest one since the loader was made

  // The sum of these four is the time that all threads of the stage had a part in the work.
  std::chrono::nanoseconds busy{};     ///< reading; issuing copies; using batches
  std::chrono::nanoseconds starved{};  ///< waiting for a request, an epoch or a turn under the CPU
                                       ///< budget; for a filled staging slot; for a batch
  std::chrono::nanoseconds stalled{};  ///< waiting for a free staging slot; for a device slot;
                                       ///< until fewer batches are held
  std::chrono::nanoseconds copy_wait{};  ///< readers: waiting for a copy out of a staging slot

  [[nodiscard]] std::chrono::nanoseconds time() const noexcept {
    return busy + starved + stalled + copy_wait;
  }
  /// Of a slot through the stage: from opened to filled; from filled to delivered; from delivered
  /// to taken. 0 if there was none.
  [[nodiscard]] std::chrono::nanoseconds mean_latency() const noexcept {
    return slots == 0 ? latency : latency / static_cast<std::int64_t>(slots);
  }
};

/// What tuning has chosen so far, where `expert_options::tuning` asks for it.
struct tuning_statistics {
  bool on = false;       ///< it was asked for, and there are readers
  bool settled = false;  ///< the search has ended; it begins anew if the consumer waits more
                         ///< than before, by a tenth of its time
  unsigned readers = 0;  ///< that take requests now: while it searches, those being tried
  unsigned max_readers = 0;
  std::uint64_t staging_slots = 0;  ///< that go round now
  std::uint64_t max_staging_slots = 0;
  std::uint64_t searched_batches = 0;  ///< taken until the search ended last; 0: it has not
  std::string why = {};                ///< what was measured, in a sentence; empty: not on
};

/// What a loader has done since it was made, and where its time went (`loader::statistics`).
///
/// Counters and times only grow, so the difference of two snapshots is what came between them:
/// `later.since(earlier)`, for one epoch or any part of a run. A snapshot is taken while threads
/// work: its numbers are some microseconds apart.
struct loader_statistics {
  std::chrono::nanoseconds time{};  ///< since the loader was made, or between two snapshots
  stage_statistics reader = {};
  stage_statistics transfer = {};
  stage_statistics consumer =
      {};  ///< from an epoch's first step to its end; time between epochs does
           ///< not count, nor do batches that are taken by no step

  /// How long the consumer waited for data. On a device with streams that tell times it is its
  /// stream that waits: from where it has done all work that was issued before, to the end of the
  /// copy or assembly of the next slot. What the host waits meanwhile is part of it; what the host
  /// waits while the stream still works is not. A wait is added when the stream has passed it.
  /// Elsewhere it is the time that `next()` has waited.
  std::chrono::nanoseconds exposed{};
  bool exposed_on_stream = false;      ///< measured on the consumer's stream
  std::uint64_t exposed_waits = 0;     ///< that `exposed` is the sum of
  std::uint64_t unmeasured_waits = 0;  ///< that one measured wait stands for, or will

  // A part of the requests is measured more closely: at most one in 10 ms for each reader.
  std::chrono::nanoseconds sampled_reading{};  ///< time that these took
  std::chrono::nanoseconds sampled_cpu{};      ///< of it, on a core
  std::chrono::nanoseconds sampled_queue{};    ///< of it, ready to run, with no core to run on
  bool queue_known = false;                    ///< the system tells `sampled_queue`

  double peak_copy_rate = 0;  ///< bytes a second of the fastest copy measured; 0: none of 1 MiB or
                              ///< more was, or nothing is copied

  // As datasets tell (`count_read`): HDF5's chunks and images are counted.
  std::uint64_t decoded = 0;       ///< chunks and images that readers have decoded
  std::uint64_t cache_hits = 0;    ///< rows, field by field, whose chunk lay decoded in memory
  std::uint64_t cache_misses = 0;  ///< rows whose chunk did not, or not yet

  std::uint64_t cached_samples = 0;      ///< of the readers', those whose rows the device held
  std::uint64_t unreadable_samples = 0;  ///< as `failure_report::count`
  std::uint64_t recovered_reads = 0;     ///< as `failure_report`

  // What the loader is, for the verdict.
  unsigned cores = 1;              ///< that this process may use, as its quota says
  unsigned quota_cores = 0;        ///< that a quota of CPU time pays for; 0: there is none
  unsigned cpu_budget = 0;         ///< readers at work at a time (`set_cpu_budget`); 0: any number
  std::uint64_t sample_bytes = 0;  ///< of one sample as the dataset has it
  bool chunked = false;            ///< the dataset reads whole chunks of samples
  bool device_could_decode = false;  ///< as `loader_plan`
  bool copies = false;            ///< batches are copied to a device; else they are read in place
  tuning_statistics tuning = {};  ///< as it stands at the snapshot

  /// What came between an earlier snapshot of the same loader and this one. What is no sum stays
  /// as it is here: `slots_there`, `max_latency`, `peak_copy_rate`, and what the loader is or has
  /// chosen.
  [[nodiscard]] loader_statistics since(const loader_statistics& earlier) const;
};

/// What limits a loop.
enum class bottleneck : std::uint8_t {
  unknown,   ///< too little was measured: fewer than 2 batches, or less than a millisecond
  balanced,  ///< the consumer waits for nothing, and the loader could hardly be faster
  consumer,  ///< the consumer waits for nothing: the loader could be faster
  reader,    ///< readers cannot gather bytes fast enough, or had nothing to read
  decode,    ///< readers compute: decoding, decompressing, a user's function
  storage,   ///< readers wait for a disk, a network or a lock
  copy       ///< the way to the device is full
};
/// "unknown", "balanced", "consumer-bound", "reader-bound", "decode-bound", "storage-bound",
/// "copy-bound".
[[nodiscard]] std::string to_string(bottleneck limit);

/// What limits a loop, why, and what to do about it.
struct loader_verdict {
  bottleneck limit = bottleneck::unknown;
  std::string evidence;  ///< the numbers that say so
  std::string next;      ///< the one thing to change; empty: nothing
  /// How many times as fast the loop can become by it, at most. 1: nothing is to be changed, or
  /// nothing bounds it: the loop does little but wait (95 % of its time).
  double gain = 1;
};

/// The verdict over a snapshot, or over the difference of two. A pure function.
[[nodiscard]] loader_verdict judge(const loader_statistics& seen);

/// One object of JSON (RFC 8259): each stage an object in it, times in nanoseconds as `busy_ns`,
/// the verdict as `verdict`. Members may be added by later versions.
[[nodiscard]] std::string to_json(const loader_statistics& seen);

/// For people: a table of the stages, exposed time, and the verdict. Some ten lines.
[[nodiscard]] std::string report(const loader_statistics& seen);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
