#include <feedline/dataset/read_counts.hpp>
#include <feedline/statistics/statistics.hpp>

#include "detail/threads.hpp"
#include "loader/pipeline/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace feedline::detail {
namespace {

/// Adds what a thread of the stage has done.
void add(stage_statistics& to, const stage_totals& seen) {
  const auto time = [&](activity what) { return seen.time.at(static_cast<std::size_t>(what)); };
  to.batches += seen.batches;
  to.samples += seen.samples;
  to.bytes += seen.bytes;
  to.slots += seen.slots;
  to.latency += seen.latency;
  to.max_latency = std::max(to.max_latency, seen.max_latency);
  to.busy += time(activity::busy);
  to.starved += time(activity::starved);
  to.stalled += time(activity::stalled);
  to.copy_wait += time(activity::copy_wait);
}

}  // namespace

std::uint64_t pipeline::epoch_of_downloads() const noexcept {
  const auto& forecast = forecast_.get();
  return forecast == nullptr ? 0 : forecast->now() / forecast->positions();
}

download_plan pipeline::plan_downloads() const {
  require_own_process();
  const std::uint64_t epoch = epoch_of_downloads();
  const download_plan plan = forecast_.downloads();
  const std::lock_guard lock{downloads_mutex_};
  downloads_ = {epoch, plan};
  return plan;
}

loader_statistics pipeline::statistics_with_downloads() const {
  // Else the calling thread would be busy for long.
  constexpr std::uint64_t max_positions = std::uint64_t{1} << 22;
  loader_statistics seen = statistics();
  std::optional<known_downloads> known;
  {
    const std::lock_guard lock{downloads_mutex_};
    known = downloads_;
  }
  if (known && known->epoch == epoch_of_downloads()) {
    seen.downloads = known->plan;
    return seen;
  }
  const auto& forecast = forecast_.get();
  const bool is_small = forecast != nullptr && forecast->positions() <= max_positions;
  const auto is_of_interest = [&] {
    return 2 * seen.network_wait >= seen.reader.busy && judge(seen).limit == bottleneck::storage;
  };
  if (is_small && (known || is_of_interest())) seen.downloads = plan_downloads();
  return seen;
}

loader_statistics pipeline::statistics() const {
  require_own_process();
  const auto now = std::chrono::steady_clock::now();
  loader_statistics seen{.time = now - made_at_};

  if (tuning_) seen.tuning = tuning_->look();
  seen.reader.threads = plan_.background ? static_cast<unsigned>(plan_.readers) : 0;
  if (tuning_) seen.reader.threads = seen.tuning.readers;
  seen.reader.slots_there = staging_->count(staging_state::filling);
  for (const reader_scratch& each : scratch_) {
    add(seen.reader, each.clock.look(now));
    const cpu_sampler::totals sampled = each.cpu.look();
    seen.sampled_reading += sampled.wall;
    seen.sampled_cpu += sampled.cpu;
    seen.sampled_queue += sampled.queued;
    seen.queue_known = seen.queue_known || sampled.queue_known;
    const read_counts reads = each.tally.look();
    seen.decoded += reads.decoded;
    seen.cache_hits += reads.cache_hits;
    seen.cache_misses += reads.cache_misses;
    seen.pixels += reads.pixels;
    seen.padded_pixels += reads.padded_pixels;
    seen.cached_samples += each.cached.load(std::memory_order_relaxed);
    seen.network_wait +=
        std::chrono::nanoseconds{each.network_wait_ns.load(std::memory_order_relaxed)};
  }
  seen.cached_samples = std::min(seen.cached_samples, seen.reader.samples);
  if (!resolved_.sizes)  // else readers have counted them
    seen.reader.bytes =
        (seen.reader.samples - seen.cached_samples) * resolved_.memory.rows().sample_bytes();

  seen.transfer.threads = plan_.background ? 1 : 0;
  seen.transfer.slots_there = staging_->count(staging_state::filled);
  add(seen.transfer, transfer_.clock().look(now));

  seen.consumer.slots_there = ring_->count(device_state::filled);
  add(seen.consumer, consumer_.look(now));
  if (!resolved_.sizes)
    seen.consumer.bytes = seen.consumer.samples * resolved_.memory.delivered().sample_bytes();

  exposed_time* const exposed = ring_->exposed();
  seen.exposed_on_stream = exposed != nullptr && exposed->works();
  if (seen.exposed_on_stream) {
    const exposed_time::totals waited = exposed->look();
    seen.exposed = waited.time;
    seen.exposed_waits = waited.waits;
    seen.unmeasured_waits = waited.unmeasured;
  } else {
    seen.exposed = seen.consumer.starved + seen.consumer.stalled;
    seen.exposed_waits = waits_.load(std::memory_order_relaxed);
  }

  seen.peak_copy_rate = transfer_.peak_copy_rate();
  seen.unreadable_samples = cursor_.unreadable();
  seen.recovered_reads = source_.recovered_reads();
  seen.cores = cores_;
  seen.quota_cores = quota_cores_;
  seen.cpu_budget = turns_.limit();
  seen.sample_bytes = resolved_.memory.rows().sample_bytes();
  seen.chunked = chunked_;
  seen.live = source_.live() != nullptr;
  seen.device_could_decode = plan_.device_could_decode;
  seen.copies = !ring_->in_place();
  seen.held = ring_->held_memory();
  return seen;
}

void pipeline::tune() noexcept {
  if (!tuning_ || !tuning_->ends_window(consumer_)) return;
  try {
    tuning_->learn(statistics());
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory: the next slot asks again
  }
}

}  // namespace feedline::detail
