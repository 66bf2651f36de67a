#include <feedline/statistics/statistics.hpp>

#include "detail/json/json_object.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

using detail::json_object;
using seconds = std::chrono::duration<double>;

std::string json_of(const stage_statistics& seen) {
  return json_object{}
      .member("threads", seen.threads)
      .member("batches", seen.batches)
      .member("samples", seen.samples)
      .member("bytes", seen.bytes)
      .member("slots", seen.slots)
      .member("slots_there", seen.slots_there)
      .time("busy", seen.busy)
      .time("starved", seen.starved)
      .time("stalled", seen.stalled)
      .time("copy_wait", seen.copy_wait)
      .time("mean_latency", seen.mean_latency())
      .time("max_latency", seen.max_latency)
      .text();
}

std::string json_of(const tuning_statistics& seen) {
  return json_object{}
      .member("on", seen.on)
      .member("settled", seen.settled)
      .member("readers", seen.readers)
      .member("max_readers", seen.max_readers)
      .member("staging_slots", seen.staging_slots)
      .member("max_staging_slots", seen.max_staging_slots)
      .member("searched_batches", seen.searched_batches)
      .string("why", seen.why)
      .text();
}

std::string json_of(const download_plan& plan) {
  return json_object{}
      .member("is_known", plan.is_known)
      .member("epoch", plan.epoch)
      .member("needed_bytes", plan.needed_bytes)
      .member("epoch_bytes", plan.epoch_bytes)
      .member("later_bytes", plan.later_bytes)
      .member("cache_bytes", plan.cache_bytes)
      .member("larger_cache", plan.larger_cache)
      .member("later_with_larger", plan.later_with_larger)
      .member("whole_cache", plan.whole_cache)
      .member("later_with_whole", plan.later_with_whole)
      .text();
}

std::string json_of(const held_statistics& seen) {
  return json_object{}
      .member("slots", seen.slots)
      .member("bytes", seen.bytes)
      .member("max_bytes", seen.max_bytes)
      .member("added", seen.added)
      .text();
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 256> line{};
  (void)std::snprintf(line.data(), line.size(), format, values...);
  return line.data();
}

double percent(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() <= 0 ? 0.0 : 100 * (seconds{part} / seconds{whole});
}

std::string row_of(const char* name, const stage_statistics& seen, std::chrono::nanoseconds time) {
  const double took = seconds{time}.count();
  const auto milliseconds = [](std::chrono::nanoseconds value) {
    return 1e3 * seconds{value}.count();
  };
  return formatted("%-8s %7u %10llu %8.3f %6.1f %7.1f %7.1f %9.1f %10.3f %9.3f\n", name,
                   seen.threads, static_cast<unsigned long long>(seen.batches),
                   took <= 0 ? 0.0 : static_cast<double>(seen.bytes) / took / 1e9,
                   percent(seen.busy, seen.time()), percent(seen.starved, seen.time()),
                   percent(seen.stalled, seen.time()), percent(seen.copy_wait, seen.time()),
                   milliseconds(seen.mean_latency()), milliseconds(seen.max_latency));
}

}  // namespace

std::string to_json(const loader_statistics& seen) {
  const loader_verdict verdict = judge(seen);
  return json_object{}
      .time("time", seen.time)
      .member("reader", json_of(seen.reader))
      .member("transfer", json_of(seen.transfer))
      .member("consumer", json_of(seen.consumer))
      .time("exposed", seen.exposed)
      .member("exposed_on_stream", seen.exposed_on_stream)
      .member("exposed_waits", seen.exposed_waits)
      .member("unmeasured_waits", seen.unmeasured_waits)
      .time("sampled_reading", seen.sampled_reading)
      .time("sampled_cpu", seen.sampled_cpu)
      .time("sampled_queue", seen.sampled_queue)
      .member("queue_known", seen.queue_known)
      .member("peak_copy_rate", seen.peak_copy_rate)
      .member("decoded", seen.decoded)
      .member("cache_hits", seen.cache_hits)
      .member("cache_misses", seen.cache_misses)
      .time("network_wait", seen.network_wait)
      .member("pixels", seen.pixels)
      .member("padded_pixels", seen.padded_pixels)
      .member("cached_samples", seen.cached_samples)
      .member("unreadable_samples", seen.unreadable_samples)
      .member("recovered_reads", seen.recovered_reads)
      .member("cores", seen.cores)
      .member("quota_cores", seen.quota_cores)
      .member("cpu_budget", seen.cpu_budget)
      .member("sample_bytes", seen.sample_bytes)
      .member("chunked", seen.chunked)
      .member("live", seen.live)
      .member("device_could_decode", seen.device_could_decode)
      .member("copies", seen.copies)
      .member("downloads", json_of(seen.downloads))
      .member("tuning", json_of(seen.tuning))
      .member("held", json_of(seen.held))
      .member("verdict", json_object{}
                             .string("limit", to_string(verdict.limit))
                             .string("evidence", verdict.evidence)
                             .string("next", verdict.next)
                             .member("gain", verdict.gain)
                             .text())
      .text();
}

std::string report(const loader_statistics& seen) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string text =
      "stage    threads    batches     GB/s  busy % starved stalled copy wait   ms/slot       "
      "max\n";
  text += row_of("reader", seen.reader, seen.time);
  text += row_of("transfer", seen.transfer, seen.time);
  text += row_of("consumer", seen.consumer, seen.time);
  text +=
      formatted("exposed  %.3f ms in %llu waits%s, %.1f %% of the consumer's %.3f s\n",
                1e3 * seconds{seen.exposed}.count(), number(seen.exposed_waits),
                seen.exposed_on_stream ? " of its stream" : "",
                percent(seen.exposed, seen.consumer.time()), seconds{seen.consumer.time()}.count());
  if (seen.peak_copy_rate > 0)
    text += formatted("copies   %.1f GB/s at the most\n", seen.peak_copy_rate / 1e9);
  if (seen.decoded != 0 || seen.cache_hits != 0 || seen.cache_misses != 0) {
    text += formatted("decoded  %llu chunks or images", number(seen.decoded));
    const std::uint64_t rows = seen.cache_hits + seen.cache_misses;
    if (rows != 0)
      text += formatted("; %.1f %% of %llu rows were in memory, already decoded",
                        100 * static_cast<double>(seen.cache_hits) / static_cast<double>(rows),
                        number(rows));
    if (seen.pixels != 0)
      text += formatted(
          "; %.1f %% of the images' pixels are padding",
          100 * static_cast<double>(seen.padded_pixels) / static_cast<double>(seen.pixels));
    text += '\n';
  }
  if (const tuning_statistics& tuned = seen.tuning; tuned.on) {
    text +=
        formatted("tuning   %u of %u readers, %llu of %llu staging slots, ", tuned.readers,
                  tuned.max_readers, number(tuned.staging_slots), number(tuned.max_staging_slots));
    text += tuned.settled
                ? formatted("settled after %llu batches: ", number(tuned.searched_batches))
                : "searching: ";
    text += tuned.why + '\n';
  }
  if (const held_statistics& held = seen.held; held.max_bytes != 0)
    text += formatted("held     %llu further slots, %.1f MiB now, %.1f MiB at the most\n",
                      number(held.slots), static_cast<double>(held.bytes) / (1 << 20),
                      static_cast<double>(held.max_bytes) / (1 << 20));
  if (seen.network_wait.count() != 0)
    text += formatted("network  readers waited for it %.1f %% of their busy time\n",
                      100 * std::min(std::chrono::duration<double>(seen.network_wait) /
                                         std::max<std::chrono::duration<double>>(
                                             seen.reader.busy, std::chrono::nanoseconds{1}),
                                     1.0));
  if (const std::string plan = to_string(seen.downloads); !plan.empty())
    text += "download " + plan + '\n';
  if (seen.cached_samples != 0)
    text += formatted("cached   %llu of %llu samples\n", number(seen.cached_samples),
                      number(seen.reader.samples));
  if (seen.unreadable_samples != 0 || seen.recovered_reads != 0)
    text += formatted("errors   %llu samples not read, %llu reads recovered\n",
                      number(seen.unreadable_samples), number(seen.recovered_reads));
  const loader_verdict verdict = judge(seen);
  text += to_string(verdict.limit) + ": " + verdict.evidence + '\n';
  if (!verdict.next.empty()) {
    text += "next: " + verdict.next;
    if (verdict.gain > 1.005) text += formatted(" (up to %.2f times as fast)", verdict.gain);
    text += '\n';
  }
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
