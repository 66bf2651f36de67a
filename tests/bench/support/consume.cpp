#include "bench/support/consume.hpp"

#include <feedline/dataset/field.hpp>

namespace feedline::bench {

delivered consume(loader& loader, std::uint64_t& epoch, const gpu_stream& stream, double seconds) {
  std::uint64_t bytes_a_sample = 0;
  for (const auto& field : loader.plan().fields) bytes_a_sample += feedline::sample_bytes(field);
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  const meter meter;
  do {
    for (batch& batch : loader.epoch(epoch++, stream_ref{stream.get()})) {
      ++batches;
      samples += batch.size();
    }
  } while (meter.seconds() < seconds);
  stream.sync();
  return meter.stop(batches, samples * bytes_a_sample);
}

delivered consume_in_turn(loader& loader, std::uint64_t& epoch, const gpu_stream& stream,
                          double seconds) {
  (void)consume(loader, epoch, stream, seconds / 4);
  return consume(loader, epoch, stream, seconds);
}

}  // namespace feedline::bench
