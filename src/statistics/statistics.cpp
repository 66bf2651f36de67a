#include <feedline/statistics/statistics.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

stage_statistics between(const stage_statistics& earlier, stage_statistics later) {
  later.batches -= earlier.batches;
  later.samples -= earlier.samples;
  later.bytes -= earlier.bytes;
  later.slots -= earlier.slots;
  later.latency -= earlier.latency;
  later.busy -= earlier.busy;
  later.starved -= earlier.starved;
  later.stalled -= earlier.stalled;
  later.copy_wait -= earlier.copy_wait;
  return later;
}

}  // namespace

loader_statistics loader_statistics::since(const loader_statistics& earlier) const {
  loader_statistics part = *this;
  part.time -= earlier.time;
  part.reader = between(earlier.reader, reader);
  part.transfer = between(earlier.transfer, transfer);
  part.consumer = between(earlier.consumer, consumer);
  part.exposed -= earlier.exposed;
  part.exposed_waits -= earlier.exposed_waits;
  part.unmeasured_waits -= earlier.unmeasured_waits;
  part.sampled_reading -= earlier.sampled_reading;
  part.sampled_cpu -= earlier.sampled_cpu;
  part.sampled_queue -= earlier.sampled_queue;
  part.decoded -= earlier.decoded;
  part.cache_hits -= earlier.cache_hits;
  part.cache_misses -= earlier.cache_misses;
  part.network_wait -= earlier.network_wait;
  part.pixels -= earlier.pixels;
  part.padded_pixels -= earlier.padded_pixels;
  part.cached_samples -= earlier.cached_samples;
  part.unreadable_samples -= earlier.unreadable_samples;
  part.recovered_reads -= earlier.recovered_reads;
  part.held.added -= earlier.held.added;
  return part;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
