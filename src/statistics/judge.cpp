// Over 250 lines: one short function for the verdict on each limit, in the order of the checks.

// The rules are one decision, and their order is part of it: so they stand in one file, though it
// is long.

#include <feedline/statistics/statistics.hpp>

#include "statistics/size_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

using seconds = std::chrono::duration<double>;

/// Below this share of the consumer's time its waiting is no matter.
constexpr double little_exposed = 0.05;
/// Above it the consumer computes next to nothing, so that its own time bounds no gain.
constexpr double nearly_all_exposed = 0.95;
/// A stage that works for more than this share of the time could hardly do more.
constexpr double nearly_full = 0.8;
/// A copy of fewer bytes takes as long to issue as to run.
constexpr std::uint64_t small_slot = std::uint64_t{256} << 10;
/// A reader that only gathers bytes is faster than this, on one core ...
constexpr double gather_rate = 1e9;
/// ... or takes no longer for a sample.
constexpr double gather_seconds = 2e-6;

double share(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() <= 0 ? 0.0 : seconds{part} / seconds{whole};
}
double ratio(double part, double whole) {
  return whole <= 0 ? 0.0 : part / whole;
}
std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}
std::string decimal(double number) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}
std::string rate(double bytes_per_second) {
  return decimal(bytes_per_second / 1e9) + " GB/s";
}

/// The numbers that verdicts go by.
struct findings {
  explicit findings(const loader_statistics& seen)
      : exposed{std::min(share(seen.exposed, seen.consumer.time()), 1.0)},
        held{share(seen.consumer.stalled, seen.consumer.time())},
        readers{share(seen.reader.busy,
                      seen.reader.threads == 0 ? seen.consumer.time() : seen.reader.time())},
        readers_starved{share(seen.reader.starved, seen.reader.time())},
        readers_blocked{share(seen.reader.stalled + seen.reader.copy_wait, seen.reader.time())},
        issuing{share(seen.transfer.busy,
                      seen.transfer.threads == 0 ? seen.consumer.time() : seen.transfer.time())},
        copied{
            ratio(static_cast<double>(seen.transfer.bytes), seconds{seen.consumer.time()}.count())},
        copying{std::min(ratio(copied, seen.peak_copy_rate), 1.0)},
        on_core{std::min(share(seen.sampled_cpu, seen.sampled_reading), 1.0)},
        queued{std::min(share(seen.sampled_queue, seen.sampled_reading), 1.0 - on_core)},
        network{std::min(share(seen.network_wait, seen.reader.busy), 1.0)} {
    // Where the system does not tell: more readers than cores wait for cores.
    if (!seen.queue_known && seen.reader.threads > seen.cores) queued = 1 - on_core;
  }

  /// Same as `loader_verdict::gain`. @param bound Another bound of it.
  [[nodiscard]] double gain(double bound = std::numeric_limits<double>::infinity()) const {
    const double most = exposed < nearly_all_exposed ? std::min(1 / (1 - exposed), bound) : bound;
    return std::isinf(most) ? 1 : most;
  }

  double exposed;  ///< share of the consumer's time
  double held;     ///< share of the consumer's time in which it waits for the end of a batch
  double readers;  ///< share of the readers' time, busy
  double readers_starved;  ///< share of the readers' time
  double readers_blocked;  ///< same: no free slot, or a copy not done
  double issuing;          ///< share of the transfer's time, busy
  double copied;           ///< bytes a second
  double copying;          ///< share of the time, at the peak rate of copies
  double on_core;          ///< share of the time that requests took
  double queued;           ///< share of that time without a core
  double network;          ///< share of the readers' busy time that waits for other machines
};

std::string exposed_words(const findings& found) {
  return "the consumer waits for data " + percent(found.exposed) + " of its time";
}

loader_verdict of_idle_loader(const loader_statistics& seen, const findings& found) {
  const double fullest =
      std::max({found.readers, found.copying, seen.copies ? found.issuing : 0.0});
  const std::string words = exposed_words(found) + "; readers are busy " + percent(found.readers) +
                            " of theirs, " +
                            (seen.copies ? "copies take " + percent(found.copying) + " of the time"
                                         : "and nothing is copied");
  if (fullest >= nearly_full) return {bottleneck::balanced, words, "", 1};
  return {bottleneck::consumer, words,
          "nothing in the loader: make the consumer's step faster, or give its CPU cores to others "
          "with fewer readers",
          1};
}

loader_verdict of_held_batches(const findings& found) {
  return {bottleneck::consumer,
          exposed_words(found) + ", and " + percent(found.held) +
              " of it because batches are held in every slot",
          "end batches sooner, or ask for more expert.device_slots (expert.staging_slots on the "
          "host device)",
          found.gain()};
}

loader_verdict of_copies(const loader_statistics& seen, const findings& found) {
  const std::uint64_t slot_bytes =
      seen.transfer.slots == 0 ? 0 : seen.transfer.bytes / seen.transfer.slots;
  std::string words = exposed_words(found) + "; copies bring " + rate(found.copied);
  if (seen.peak_copy_rate > 0)
    words += ", of " + rate(seen.peak_copy_rate) + " that the fastest one reached";
  words += ", and issuing them takes " + percent(found.issuing) + " of the transfer's time";
  if (slot_bytes < small_slot && found.issuing > found.copying)
    return {bottleneck::copy, words + ": a slot has " + std::to_string(slot_bytes) + " bytes",
            "larger slots: leave batches_per_slot to the loader, or raise it", found.gain()};
  if (seen.peak_copy_rate > 0 && std::max(found.copying, found.issuing) < 0.5)
    return {
        bottleneck::copy,
        words + ", yet readers wait for room " + percent(found.readers_blocked) + " of the time",
        "less work after the copies (transforms, expert.batch_transform), or more "
        "expert.device_slots",
        found.gain()};
  return {bottleneck::copy, words,
          "fewer bytes to copy: a narrower type and a device transform (field_transform), or "
          "rows that stay with the device (placement::resident or cached)",
          found.gain()};
}

loader_verdict of_idle_readers(const loader_statistics& seen, const findings& found) {
  const std::string words = exposed_words(found) + ", while readers wait for work " +
                            percent(found.readers_starved) + " of theirs";
  if (seen.live)
    return {bottleneck::reader, words + ": for samples that are put into the queue",
            "nothing in the loader: put samples faster, from more threads, or say a shorter "
            "queue_options::max_delay",
            found.gain()};
  if (seen.cpu_budget != 0 && seen.cpu_budget < seen.reader.threads)
    return {bottleneck::reader, words + " under a CPU budget of " + std::to_string(seen.cpu_budget),
            "raise the CPU budget (set_cpu_budget, FEEDLINE_CPU_BUDGET)", found.gain()};
  return {bottleneck::reader, words,
          "let the loader read the next epoch ahead: set loader_options::epochs, and ask for "
          "epochs before the current one ends",
          found.gain()};
}

std::string reader_words(const loader_statistics& seen, const findings& found) {
  std::string words = exposed_words(found) + "; ";
  words += seen.reader.threads == 0
               ? "no reader reads for it, and reading takes " + percent(found.readers)
               : std::to_string(seen.reader.threads) +
                     (seen.reader.threads == 1 ? " reader is busy " : " readers are busy ") +
                     percent(found.readers) + " of the time";
  if (seen.sampled_reading.count() == 0) return words;
  words += ": a read spends " + percent(found.on_core) + " computing, " + percent(found.queued) +
           " waiting for a core, " + percent(1 - found.on_core - found.queued) +
           " waiting for data";
  return words;
}

/// The loader has yet to find its number of readers.
bool still_searches(const loader_statistics& seen) {
  return seen.tuning.on && !seen.tuning.settled && seen.tuning.max_readers > seen.reader.threads;
}
std::string search_words(const loader_statistics& seen) {
  return "time: the loader is trying up to " + std::to_string(seen.tuning.max_readers) +
         " readers; look again once statistics().tuning.settled";
}

/// A number of readers, and the option that has to be set for it.
std::string more_readers(const loader_statistics& seen, unsigned wanted) {
  if (!seen.tuning.on) return std::to_string(wanted);
  wanted = std::max(wanted, 2 * seen.tuning.max_readers);
  return std::to_string(wanted) + " by expert.tuning.max_readers";
}

loader_verdict of_storage(const loader_statistics& seen, const findings& found) {
  const std::string words = reader_words(seen, found);
  if (seen.chunked)
    return {bottleneck::storage, words,
            "an order that follows chunks (shuffle{.within = ...}), so that each is read once",
            found.gain()};
  if (still_searches(seen)) return {bottleneck::storage, words, search_words(seen), found.gain(2)};
  return {bottleneck::storage, words,
          "more readers (" + more_readers(seen, 2 * std::max(seen.reader.threads, 1U)) +
              "), so that more reads are in progress; or data that is nearer: a local disk, "
              "load_into_memory",
          found.gain(2)};
}

/// A larger cache, by the simulation of the order; empty if it would bring nothing.
std::string larger_cache_words(const download_plan& plan) {
  const bool is_worth = plan.larger_cache != 0 && plan.later_with_larger < plan.later_bytes;
  if (plan.whole_cache == 0 || plan.later_with_whole >= plan.later_bytes) return {};
  std::string words = "a larger cache (remote_options::cache): each later epoch downloads " +
                      detail::size_text(plan.later_with_whole) + " with " +
                      detail::size_text(plan.whole_cache);
  if (is_worth)
    words += ", or " + detail::size_text(plan.later_with_larger) + " with " +
             detail::size_text(plan.larger_cache);
  return words + "; or ";
}

loader_verdict of_network(const loader_statistics& seen, const findings& found) {
  std::string words = reader_words(seen, found) + "; " + percent(found.network) +
                      " of it is waiting for the network";
  if (const std::string plan = to_string(seen.downloads); !plan.empty()) words += "; " + plan;
  const std::string larger = larger_cache_words(seen.downloads);
  if (seen.chunked)
    return {bottleneck::storage, words,
            larger +
                "an order that follows chunks (shuffle{.within = ...}), so that each is fetched "
                "once",
            found.gain()};
  return {bottleneck::storage, words,
          larger +
              "more in flight, if remote_counts() is at its limits (remote_options: max_in_flight, "
              "read_ahead_bytes, threads); samples that are stored side by side "
              "(shuffle{.within = ...}); or data that is nearer, such as a copy on a local disk",
          found.gain()};
}

/// Readers compute, or wait for a core to compute on.
loader_verdict of_computing(const loader_statistics& seen, const findings& found) {
  const double read = static_cast<double>(seen.reader.samples - seen.cached_samples);
  const double cpu = seconds{seen.reader.busy}.count() * found.on_core;
  const bool known = seen.sampled_reading.count() > 0 && read > 0;
  const bool decodes = known && cpu > read * gather_seconds &&
                       static_cast<double>(seen.reader.bytes) < cpu * gather_rate;
  const bottleneck limit = decodes ? bottleneck::decode : bottleneck::reader;
  std::string words = reader_words(seen, found);
  if (known) words += "; a sample takes " + decimal(1e6 * cpu / read) + " us of a core";

  if (seen.decoded > 0 && seen.device_could_decode)
    return {limit, words,
            std::string{"decode_on::device, so that the device decodes these blocks"} +
                (seen.chunked ? ", in an order that follows chunks (shuffle{.within = ...})" : "") +
                "; loader_plan::decode_note says what prevents it, if anything",
            found.gain()};
  const auto needed = static_cast<unsigned>(
      std::ceil(std::max(seen.reader.threads, 1U) / std::max(1 - found.exposed, 1.0 / 64)));
  if (still_searches(seen)) return {limit, words, search_words(seen), found.gain()};
  const bool tried_more = seen.tuning.on && seen.reader.threads < seen.tuning.max_readers;
  if (seen.reader.threads < seen.cores && found.queued < 0.2 && !tried_more)
    return {limit, words,
            "more readers: " + more_readers(seen, std::min(needed, seen.cores)) + " of " +
                std::to_string(seen.cores) + " cores",
            found.gain(seen.cores / std::max<double>(seen.reader.threads, 1))};
  words += "; there are " + std::to_string(seen.cores) + " cores";
  const bool waits_for_cores = found.queued >= 0.5;
  if (waits_for_cores && seen.quota_cores != 0 && seen.quota_cores <= seen.cores)
    return {limit, words + ", the limit of a quota of CPU time",
            "a larger quota (cpu.max of the control group, --cpus of a container), or less work "
            "for each sample",
            found.gain()};
  if (waits_for_cores && seen.reader.threads <= seen.cores)
    return {limit, words + ", and other threads or processes use them",
            "cores that other work leaves alone: move or end it, or bind this process to cores of "
            "its own",
            found.gain()};
  if (decodes && seen.chunked)
    return {limit, words,
            "an order that follows chunks (shuffle{.within = ...}), or a file layout with smaller "
            "or faster compressed chunks (feedline-convert)",
            found.gain()};
  if (decodes)
    return {limit, words,
            "less work for each sample: decode once (feedline-convert, load_into_memory), move it "
            "to the device (batch_transform), or use more cores",
            found.gain()};
  return {limit, words,
          "rows that readers need not touch: placement::resident, cached or gather; or more cores",
          found.gain()};
}

}  // namespace

loader_verdict judge(const loader_statistics& seen) {
  if (seen.consumer.batches < 2 || seen.consumer.time() < std::chrono::milliseconds{1})
    return {bottleneck::unknown, "too little was measured: take more batches", "", 1};
  const findings found{seen};
  if (found.exposed < little_exposed) return of_idle_loader(seen, found);
  if (found.held > found.exposed / 2) return of_held_batches(found);
  const double way = std::max(found.copying, found.issuing);
  const bool full = std::max(found.readers, found.readers_starved) < way;
  const bool blocked = found.readers_blocked > std::max(found.readers, 0.5);
  if (seen.copies && (full || blocked)) return of_copies(seen, found);
  if (found.readers_starved > found.readers) return of_idle_readers(seen, found);
  if (found.network >= 0.5) return of_network(seen, found);
  if (seen.sampled_reading.count() > 0 && 1 - found.on_core - found.queued >= 0.5)
    return of_storage(seen, found);
  return of_computing(seen, found);
}

std::string to_string(bottleneck limit) {
  switch (limit) {
    case bottleneck::balanced:
      return "balanced";
    case bottleneck::consumer:
      return "consumer-bound";
    case bottleneck::reader:
      return "reader-bound";
    case bottleneck::decode:
      return "decode-bound";
    case bottleneck::storage:
      return "storage-bound";
    case bottleneck::copy:
      return "copy-bound";
    case bottleneck::unknown:
      break;
  }
  return "unknown";
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
