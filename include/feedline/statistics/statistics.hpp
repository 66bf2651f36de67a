#pragma once

#include <feedline/export.hpp>
#include <feedline/statistics/download_plan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Work done by all threads of one stage, and the time they spent.
struct stage_statistics {
  /// Number of the loader's threads in this stage, without readers that tuning has paused. 0 if
  /// another thread does the work.
  unsigned threads = 0;
  std::uint64_t batches = 0;  ///< batches that have passed the stage
  std::uint64_t samples = 0;  ///< same for samples, including those of incomplete batches
  /// Reader: bytes read from the dataset. Transfer: bytes copied to the device, without those that
  /// the device read itself. Consumer: bytes of the batches it has taken.
  std::uint64_t bytes = 0;
  /// Slots that have passed the stage. Reader: staging slots. Other stages: device slots.
  std::uint64_t slots = 0;
  std::uint64_t slots_there = 0;       ///< slots that wait for the stage or are in it now
  std::chrono::nanoseconds latency{};  ///< sum over all these slots
  /// Latency of the slowest slot since the loader was created.
  std::chrono::nanoseconds max_latency{};

  // The sum of these four is the time that all threads of the stage took part in the work.
  std::chrono::nanoseconds busy{};  ///< reading; issuing copies; using batches
  /// Waiting for input. Reader: a request, an epoch, a turn under the CPU budget, or samples that
  /// are put into a queue. Transfer: a filled staging slot. Consumer: a batch.
  std::chrono::nanoseconds starved{};
  /// Waiting for output space. Reader: a free staging slot. Transfer: a device slot. Consumer: the
  /// end of a batch, if batches are held in every slot.
  std::chrono::nanoseconds stalled{};
  /// Reader: waiting for a copy out of a staging slot.
  std::chrono::nanoseconds copy_wait{};

  [[nodiscard]] std::chrono::nanoseconds time() const noexcept {
    return busy + starved + stalled + copy_wait;
  }
  /// Mean latency of a slot in the stage. Reader: from opened to filled. Transfer: from filled to
  /// delivered. Consumer: from delivered to taken. 0 if there was no slot.
  [[nodiscard]] std::chrono::nanoseconds mean_latency() const noexcept {
    return slots == 0 ? latency : latency / static_cast<std::int64_t>(slots);
  }
};

/// Current choices of tuning (`tuning_budget`).
struct tuning_statistics {
  bool on = false;  ///< whether the loader tunes: it has a budget, and readers
  /// Whether the search has ended. It starts again if the waiting share of the consumer's time has
  /// grown by 10 percentage points.
  bool settled = false;
  /// Readers that take requests now; during a search, the number being tried.
  unsigned readers = 0;
  unsigned max_readers = 0;
  std::uint64_t staging_slots = 0;  ///< staging slots in use now
  std::uint64_t max_staging_slots = 0;
  /// Batches taken until the search last ended; 0: it has not ended yet.
  std::uint64_t searched_batches = 0;
  /// The measurements as a sentence; empty if not `on`.
  std::string why = {};
};

/// Slots beyond those of the plan, for batches that are kept (`expert_options::on_held`).
struct held_statistics {
  std::uint64_t slots = 0;      ///< further slots that have memory now
  std::uint64_t bytes = 0;      ///< their memory now
  std::uint64_t max_bytes = 0;  ///< the most that they have had at a time
  std::uint64_t added = 0;      ///< how often a further slot came into use
};

/// Work done by a loader since it was created, and the time spent (`loader::statistics`).
///
/// Counters and times only grow, so the difference of two snapshots describes the time between
/// them: use `later.since(earlier)` for one epoch or any other period. A snapshot is taken while
/// threads work, so its numbers are some microseconds apart.
struct loader_statistics {
  std::chrono::nanoseconds time{};  ///< since the loader was created, or between two snapshots
  stage_statistics reader = {};
  stage_statistics transfer = {};
  /// Measured from an epoch's first step to its end. Excludes the time between epochs, and
  /// batches that the consumer did not take.
  stage_statistics consumer = {};

  /// Time that the consumer waited for data. If the device can measure times on streams, this is
  /// the time that the consumer's stream was idle: a wait begins when the stream has done all
  /// earlier work, and ends when the next slot is copied or assembled. Host waits count only while
  /// the stream is idle. A wait is added after the stream has passed it. On other devices this is
  /// the time that `next()` waited.
  std::chrono::nanoseconds exposed{};
  bool exposed_on_stream = false;   ///< whether it was measured on the consumer's stream
  std::uint64_t exposed_waits = 0;  ///< number of waits that `exposed` is the sum of
  /// Waits that were not measured. Each is represented by a measured wait, now or later.
  std::uint64_t unmeasured_waits = 0;

  // Some requests are measured in more detail: at most one in 10 ms for each reader.
  std::chrono::nanoseconds sampled_reading{};  ///< duration of these requests
  std::chrono::nanoseconds sampled_cpu{};      ///< part of it on a core
  std::chrono::nanoseconds sampled_queue{};    ///< part of it ready to run, without a core
  bool queue_known = false;                    ///< whether the system provides `sampled_queue`

  /// Bytes a second of the fastest measured copy; 0: no copy of 1 MiB or more was measured, or
  /// nothing is copied.
  double peak_copy_rate = 0;

  // Reported by datasets (`count_read`). HDF5 chunks and images are counted.
  std::uint64_t decoded = 0;  ///< chunks and images that readers have decoded
  /// Requested rows of each field whose chunk was already decoded in memory.
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;  ///< same for rows whose chunk had to be decoded
  /// Pixels of images that are letterboxed or padded (`image_fit`), with their padding.
  std::uint64_t pixels = 0;
  std::uint64_t padded_pixels = 0;  ///< those of them that are padding

  /// Part of `reader.busy` that reads waited for other machines (`feedline::remote`).
  std::chrono::nanoseconds network_wait{};

  /// Samples of the reader stage whose rows were already on the device.
  std::uint64_t cached_samples = 0;
  std::uint64_t unreadable_samples = 0;  ///< same as `failure_report::count`
  std::uint64_t recovered_reads = 0;     ///< same as in `failure_report`

  // Properties of the loader, for the verdict.
  unsigned cores = 1;        ///< cores that this process may use, including its quota
  unsigned quota_cores = 0;  ///< cores that a quota of CPU time allows; 0: no quota
  /// Limit of readers that work at a time (`set_cpu_budget`); 0: no limit.
  unsigned cpu_budget = 0;
  std::uint64_t sample_bytes = 0;    ///< size of a sample in the dataset
  bool chunked = false;              ///< whether the dataset reads whole chunks of samples
  bool live = false;                 ///< whether samples come meanwhile (`make_queue_dataset`)
  bool device_could_decode = false;  ///< same as in `loader_plan`
  /// Whether batches are copied to a device; else the consumer reads staging memory.
  bool copies = false;
  /// Same as `loader::plan_downloads`, for the epoch that is read now. Known if that was called in
  /// this epoch. In epochs of up to 2^22 samples also if it was called before, or if the readers
  /// mostly wait for other machines: then the first snapshot of each epoch computes it.
  download_plan downloads = {};
  tuning_statistics tuning = {};  ///< state at the snapshot
  held_statistics held = {};      ///< the same; `added` is a sum

  /// The difference between an earlier snapshot of the same loader and this one. Values that are
  /// not sums are those of this snapshot: `slots_there`, `max_latency`, `peak_copy_rate`, and the
  /// loader's properties and choices.
  [[nodiscard]] loader_statistics since(const loader_statistics& earlier) const;
};

/// Limiting factor of a training loop.
enum class bottleneck : std::uint8_t {
  unknown,   ///< too little was measured: fewer than 2 batches, or less than a millisecond
  balanced,  ///< the consumer waits for nothing, and the loader could hardly be faster
  consumer,  ///< the consumer waits for nothing: the loader could be faster
  reader,    ///< readers cannot gather bytes fast enough, or had nothing to read
  decode,    ///< readers compute: decoding, decompressing, a user's function
  storage,   ///< readers wait for a disk, a network or a lock
  copy       ///< the connection to the device is saturated
};
/// "unknown", "balanced", "consumer-bound", "reader-bound", "decode-bound", "storage-bound",
/// "copy-bound".
[[nodiscard]] std::string to_string(bottleneck limit);

/// The limiting factor of a loop, the reason, and the remedy.
struct loader_verdict {
  bottleneck limit = bottleneck::unknown;
  std::string evidence;  ///< the numbers that show it
  std::string next;      ///< the one thing to change; empty: nothing
  /// Largest speed-up that this change can bring. 1 if there is nothing to change, or if no limit
  /// is known because the loop waits for at least 95 % of its time.
  double gain = 1;
};

/// Judges a snapshot, or the difference of two. A pure function.
[[nodiscard]] loader_verdict judge(const loader_statistics& seen);

/// A JSON object (RFC 8259) with one object for each stage, times in nanoseconds such as `busy_ns`,
/// and the verdict as `verdict`. Later versions may add members.
[[nodiscard]] std::string to_json(const loader_statistics& seen);

/// Human-readable text of about ten lines: a table of the stages, exposed time, and the verdict.
[[nodiscard]] std::string report(const loader_statistics& seen);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
