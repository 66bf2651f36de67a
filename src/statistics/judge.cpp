#include <feedline/statistics/statistics.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

namespace feedline {
namespace {

using seconds = std::chrono::duration<double>;

/// Below this share of the consumer's time its waiting is no matter.
constexpr double little_exposed = 0.05;
/// A stage that works for more than this share of the time could hardly do more.
constexpr double nearly_full = 0.8;
/// A copy of fewer bytes takes as long to issue as to run.
constexpr std::uint64_t small_slot = std::uint64_t{256} << 10;
/// What gathers bytes and does nothing else is faster than this, on one core ...
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
  explicit findings(const loader_statistics& of)
      : exposed{std::min(share(of.exposed, of.consumer.time()), 1.0)},
        held{share(of.consumer.stalled, of.consumer.time())},
        readers{
            share(of.reader.busy, of.reader.threads == 0 ? of.consumer.time() : of.reader.time())},
        readers_starved{share(of.reader.starved, of.reader.time())},
        readers_blocked{share(of.reader.stalled + of.reader.copy_wait, of.reader.time())},
        issuing{share(of.transfer.busy,
                      of.transfer.threads == 0 ? of.consumer.time() : of.transfer.time())},
        copied{ratio(static_cast<double>(of.transfer.bytes), seconds{of.consumer.time()}.count())},
        copying{std::min(ratio(copied, of.peak_copy_rate), 1.0)},
        on_core{std::min(share(of.sampled_cpu, of.sampled_reading), 1.0)},
        queued{std::min(share(of.sampled_queue, of.sampled_reading), 1.0 - on_core)} {
    // Where the system does not tell: more readers than cores wait for cores.
    if (!of.queue_known && of.reader.threads > of.cores) queued = 1 - on_core;
  }

  [[nodiscard]] double gain() const { return 1 / std::max(1 - exposed, 0.01); }

  double exposed;          ///< of the consumer's time
  double held;             ///< likewise, waiting until fewer batches are held
  double readers;          ///< of the readers' time, busy
  double readers_starved;  ///< of the readers' time
  double readers_blocked;  ///< likewise: no room, or a copy not done
  double issuing;          ///< of the transfer's time, busy
  double copied;           ///< bytes a second
  double copying;          ///< of the time, at the peak rate of copies
  double on_core;          ///< of the time that requests took
  double queued;           ///< likewise, with no core to run on
};

std::string exposed_words(const findings& found) {
  return "the consumer waits for data " + percent(found.exposed) + " of its time";
}

loader_verdict of_idle_loader(const loader_statistics& of, const findings& found) {
  const double fullest = std::max({found.readers, found.copying, of.copies ? found.issuing : 0.0});
  const std::string words = exposed_words(found) + "; readers are busy " + percent(found.readers) +
                            " of theirs, " +
                            (of.copies ? "copies take " + percent(found.copying) + " of the time"
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
          "end batches sooner, or ask for more device_slots (staging_slots on the host device)",
          found.gain()};
}

loader_verdict of_copies(const loader_statistics& of, const findings& found) {
  const std::uint64_t slot_bytes =
      of.transfer.slots == 0 ? 0 : of.transfer.bytes / of.transfer.slots;
  std::string words = exposed_words(found) + "; copies bring " + rate(found.copied);
  if (of.peak_copy_rate > 0)
    words += ", of " + rate(of.peak_copy_rate) + " that the fastest one reached";
  words += ", and issuing them takes " + percent(found.issuing) + " of the transfer's time";
  if (slot_bytes < small_slot && found.issuing > found.copying)
    return {bottleneck::copy, words + ": a slot has " + std::to_string(slot_bytes) + " bytes",
            "larger slots: leave batches_per_slot to the loader, or raise it", found.gain()};
  if (of.peak_copy_rate > 0 && std::max(found.copying, found.issuing) < 0.5)
    return {
        bottleneck::copy,
        words + ", yet readers wait for room " + percent(found.readers_blocked) + " of the time",
        "less work behind the copies (transforms, batch_transform), or more device_slots",
        found.gain()};
  return {bottleneck::copy, words,
          "fewer bytes on the way: a narrower type and a device transform (field_transform), or "
          "rows that stay with the device (placement::resident or cached)",
          found.gain()};
}

loader_verdict of_idle_readers(const loader_statistics& of, const findings& found) {
  const std::string words = exposed_words(found) + ", while readers wait for work " +
                            percent(found.readers_starved) + " of theirs";
  if (of.cpu_budget != 0 && of.cpu_budget < of.reader.threads)
    return {bottleneck::reader, words + " under a CPU budget of " + std::to_string(of.cpu_budget),
            "raise the CPU budget (set_cpu_budget, FEEDLINE_CPU_BUDGET)", found.gain()};
  return {bottleneck::reader, words,
          "let the next epoch be read ahead: say loader_options::epochs, and ask for epochs before "
          "the one at hand ends",
          found.gain()};
}

std::string reader_words(const loader_statistics& of, const findings& found) {
  std::string words = exposed_words(found) + "; ";
  words += of.reader.threads == 0
               ? "no reader reads for it, and reading takes " + percent(found.readers)
               : std::to_string(of.reader.threads) +
                     (of.reader.threads == 1 ? " reader is busy " : " readers are busy ") +
                     percent(found.readers) + " of the time";
  if (of.sampled_reading.count() == 0) return words;
  words += ": of a read " + percent(found.on_core) + " is computing, " + percent(found.queued) +
           " waiting for a core, " + percent(1 - found.on_core - found.queued) +
           " waiting for data";
  return words;
}

loader_verdict of_storage(const loader_statistics& of, const findings& found) {
  const std::string words = reader_words(of, found);
  if (of.chunked)
    return {bottleneck::storage, words,
            "an order that follows chunks (shuffle{.within = ...}), so that each is read once",
            found.gain()};
  return {bottleneck::storage, words,
          "more readers (" + std::to_string(2 * std::max(of.reader.threads, 1U)) +
              "), so that more reads are under way; or the data nearer: a local disk, "
              "load_into_memory",
          std::min(found.gain(), 2.0)};
}

/// Readers compute, or wait for a core to compute on.
loader_verdict of_computing(const loader_statistics& of, const findings& found) {
  const double read = static_cast<double>(of.reader.samples - of.cached_samples);
  const double cpu = seconds{of.reader.busy}.count() * found.on_core;
  const bool known = of.sampled_reading.count() > 0 && read > 0;
  const bool decodes = known && cpu > read * gather_seconds &&
                       static_cast<double>(of.reader.bytes) < cpu * gather_rate;
  const bottleneck limit = decodes ? bottleneck::decode : bottleneck::reader;
  std::string words = reader_words(of, found);
  if (known) words += "; a sample takes " + decimal(1e6 * cpu / read) + " us of a core";

  const auto needed = static_cast<unsigned>(
      std::ceil(std::max(of.reader.threads, 1U) * std::min(found.gain(), 64.0)));
  if (of.reader.threads < of.cores && found.queued < 0.2)
    return {limit, words,
            "more readers: " + std::to_string(std::min(needed, of.cores)) + " of " +
                std::to_string(of.cores) + " cores",
            std::min(found.gain(), of.cores / std::max<double>(of.reader.threads, 1))};
  if (decodes && of.chunked)
    return {limit, words + "; there are " + std::to_string(of.cores) + " cores",
            "an order that follows chunks (shuffle{.within = ...}), or a file layout with smaller "
            "or faster compressed chunks (feedline-convert)",
            found.gain()};
  if (decodes)
    return {limit, words + "; there are " + std::to_string(of.cores) + " cores",
            "less work for each sample: decode once (feedline-convert, load_into_memory), move it "
            "to the device (batch_transform), or use more cores",
            found.gain()};
  return {limit, words + "; there are " + std::to_string(of.cores) + " cores",
          "rows that readers need not touch: placement::resident, cached or gather; or more cores",
          found.gain()};
}

}  // namespace

loader_verdict judge(const loader_statistics& of) {
  if (of.consumer.batches < 2 || of.consumer.time() < std::chrono::milliseconds{1})
    return {bottleneck::unknown, "too little was measured: take more batches", "", 1};
  const findings found{of};
  if (found.exposed < little_exposed) return of_idle_loader(of, found);
  if (found.held > found.exposed / 2) return of_held_batches(found);
  const double way = std::max(found.copying, found.issuing);
  const bool full = std::max(found.readers, found.readers_starved) < way;
  const bool blocked = found.readers_blocked > std::max(found.readers, 0.5);
  if (of.copies && (full || blocked)) return of_copies(of, found);
  if (found.readers_starved > found.readers) return of_idle_readers(of, found);
  if (of.sampled_reading.count() > 0 && 1 - found.on_core - found.queued >= 0.5)
    return of_storage(of, found);
  return of_computing(of, found);
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

}  // namespace feedline
