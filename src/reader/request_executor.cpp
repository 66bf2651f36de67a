#include "reader/request_executor.hpp"

#include "reader/run_failure.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

void read_ahead::before_reading(epoch_pass& pass, position first, position end,
                                reader_scratch& use) const noexcept {
  if ((cached_ && cached_->holds_all()) || !source_.wants_prefetch()) return;
  const std::uint64_t target = std::min(end.value + distance_, samples_);
  // If hints were not wanted until now, everything before this was read without. And an epoch may
  // begin in its middle.
  const std::uint64_t earliest =
      std::max(first.value - std::min(first.value, in_flight_), pass.first_batch * batch_size_);
  std::uint64_t hinted = pass.hinted.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t begin = std::max(hinted, earliest);
    if (begin >= target) return;
    const std::uint64_t piece_end = std::min(begin + piece_, target);
    if (!pass.hinted.compare_exchange_weak(hinted, piece_end, std::memory_order_relaxed)) continue;
    hint(pass.epoch, begin, piece_end, use.drawn);
    hinted = piece_end;
  }
}

void read_ahead::hint(std::uint64_t epoch, std::uint64_t begin, std::uint64_t end,
                      std::vector<sample_index>& samples) const noexcept try {
  samples.resize(end - begin);
  source_.indices(epoch, position{begin}, samples);
  if (cached_) {
    std::erase_if(samples, [this](sample_index sample) {
      const auto row = sample.value < source_.size() ? cached_->place_of(sample) : std::nullopt;
      return row && cached_->holds(*row);
    });
  }
  source_.prefetch(samples);
} catch (
    ...) {  // NOLINT(bugprone-empty-catch): a sampler that fails is heard when samples are read
}

bool request_executor::fill(request request, reader_scratch& use) {
  const slot_index index{request.slot};
  staging_slot& slot = staging_[index];
  const std::uint32_t samples = slot.work.sample_requests();
  if (request.number < samples) {
    fill_samples(slot, slot.work.layout.request(request.number, slot.work.samples), use);
  } else {
    fill_block(slot, request.number - samples, use);
  }
  // A slot that was not read to its end must not become filled: the device would follow tables that
  // were never written.
  if (stopping_.load()) return false;
  return staging_.finish_request(index, &use.clock);
}

void request_executor::fill_block(staging_slot& slot, std::uint32_t number, reader_scratch& use) {
  const std::uint64_t epoch = slot.work.pass->epoch;
  use.clock.at(epoch, slot.work.first_batch, 0);
  const position needed = slot.work.blocks->needed_at(number);
  use.now.begin(epoch, needed, position{needed.value + 1}, use.clock.since());
  use.cpu.begin(use.clock.since());
  if (is_wanted(slot)) {
    const tallied_reads counted{use.tally};
    slot.work.blocks->read(slot, number);
  }
  use.cpu.end();
  use.now.end();
  use.clock.lap();
}

void request_executor::fill_samples(staging_slot& slot, sample_run samples, reader_scratch& use) {
  const std::uint64_t first = slot.work.first.value;
  const std::uint64_t first_batch = (slot.work.begin + samples.begin) / batch_size_;
  const std::uint64_t last_batch = (slot.work.begin + samples.end - 1) / batch_size_;
  use.clock.at(slot.work.pass->epoch, slot.work.first_batch + first_batch,
               last_batch - first_batch + 1);
  use.now.begin(slot.work.pass->epoch, position{first + samples.begin},
                position{first + samples.end}, use.clock.since());
  if (ahead_ != nullptr && is_wanted(slot))
    ahead_->before_reading(*slot.work.pass, position{first + samples.begin},
                           position{first + samples.end}, use);
  use.request = samples;
  use.drawn_run = {};  // another request's, or hints
  use.cpu.begin(use.clock.since());
  {
    const tallied_reads counted{use.tally};
    use.clock.count_samples(read(slot, samples, use));
  }
  use.cpu.end();
  use.now.end();
  use.clock.lap();
  use.clock.at(slot.work.pass->epoch, slot.work.first_batch + first_batch, 0);  // after these
}

bool request_executor::is_wanted(const staging_slot& slot) const noexcept {
  return !stopping_.load(std::memory_order_relaxed) &&
         !slot.work.pass->abandoned.load(std::memory_order_relaxed);
}

std::uint64_t request_executor::read(staging_slot& slot, sample_run samples, reader_scratch& use) {
  const std::uint64_t first = samples.begin;
  bool across_batches = writer_.reads_across_batches();
  while (samples.begin < samples.end) {
    if (!is_wanted(slot) || slot.failed_before(position{slot.work.first.value + samples.begin}))
      break;
    const std::uint64_t batch_end = (samples.begin / batch_size_ + 1) * batch_size_;
    const std::uint64_t run_end = across_batches ? samples.end : std::min(samples.end, batch_end);
    use.now.at(position{slot.work.first.value + samples.begin});
    try {
      writer_.read(slot, {samples.begin, run_end}, use);
    } catch (...) {
      // Then read batch by batch: only the batch with that sample fails.
      if (std::exchange(across_batches, false)) continue;
      slot.fail(current_failure(slot.work, samples.begin, batch_size_));
      break;
    }
    samples.begin = run_end;
  }
  return samples.begin - first;
}

}  // namespace feedline::detail
