#include "reader/request_executor.hpp"

#include "io/far_reads.hpp"
#include "reader/run_failure.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

/// From construction to destruction, a request's read is visible to other threads, and its time and
/// counters are a reader's.
class reported_read {
 public:
  reported_read(reader_scratch& use, std::uint64_t epoch, position first, position end) noexcept
      : use_{use}, counted_{use.tally} {
    use.now.begin(epoch, first, end, use.clock.since());
    use.cpu.begin(use.clock.since());
    waited_before_ = waited_for_network();
  }
  ~reported_read() {
    use_.cpu.end();
    if (const auto waited = waited_for_network() - waited_before_; waited.count() != 0)
      use_.network_wait_ns.fetch_add(static_cast<std::uint64_t>(waited.count()),
                                     std::memory_order_relaxed);
    use_.now.end();
    use_.clock.lap();
  }

 private:
  reader_scratch& use_;
  const tallied_reads counted_;
  std::chrono::nanoseconds waited_before_{};
};

}  // namespace

bool request_executor::fill(request request, reader_scratch& use) {
  const slot_index index{request.slot};
  staging_slot& slot = staging_[index];
  const std::uint32_t samples = slot.work.sample_requests();
  if (request.number < samples) {
    read_samples(slot, slot.work.layout.request(request.number, slot.work.samples), use);
  } else {
    read_block(slot, request.number - samples, use);
  }
  // A slot that was not read to its end must not become filled: the device would follow tables that
  // were never written.
  if (stopping_.load()) return false;
  return staging_.finish_request(index, &use.clock);
}

void request_executor::read_block(staging_slot& slot, std::uint32_t number, reader_scratch& use) {
  const std::uint64_t epoch = slot.work.pass->epoch;
  use.clock.at(epoch, slot.work.first_batch, 0);
  const position needed = slot.work.blocks->needed_at(number);
  const reported_read reported{use, epoch, needed, position{needed.value + 1}};
  const reads_for_pass its{slot.work.pass->id};
  if (forecast_ != nullptr) forecast_->reached_own(epoch, needed);
  if (ahead_ != nullptr && is_wanted(slot))
    ahead_->before_block(*slot.work.pass, needed, use.drawn);
  if (is_wanted(slot)) slot.work.blocks->read(slot, number);
}

void request_executor::read_samples(staging_slot& slot, sample_run samples, reader_scratch& use) {
  const slot_work& work = slot.work;
  const auto at = [&](std::uint64_t sample) { return position{work.first.value + sample}; };
  const std::uint64_t first_batch = (work.begin + samples.begin) / batch_size_;
  const std::uint64_t last_batch = (work.begin + samples.end - 1) / batch_size_;
  use.clock.at(work.pass->epoch, work.first_batch + first_batch, last_batch - first_batch + 1);
  use.request = samples;
  use.drawn_run = {};  // another request's, or hints
  if (live_ != nullptr && is_wanted(slot))
    live_->await_live(work.pass, samples.end - samples.begin, use.clock);
  {
    const reported_read reported{use, work.pass->epoch, at(samples.begin), at(samples.end)};
    const reads_for_pass its{work.pass->id};
    if (forecast_ != nullptr && is_wanted(slot))
      forecast_->reached_own(work.pass->epoch, at(samples.begin));
    if (ahead_ != nullptr && is_wanted(slot))
      ahead_->before_reading(*work.pass, at(samples.begin), at(samples.end), use.drawn);
    bool across_batches = writer_.reads_across_batches();
    std::uint64_t done = samples.begin;
    while (done < samples.end && is_wanted(slot) && !slot.failed_before(at(done))) {
      const std::uint64_t batch_end = (done / batch_size_ + 1) * batch_size_;
      const std::uint64_t end = across_batches ? samples.end : std::min(samples.end, batch_end);
      use.now.at(at(done));
      try {
        writer_.read(slot, {done, end}, use);
      } catch (...) {
        // Then read batch by batch: only the batch with that sample fails.
        if (std::exchange(across_batches, false)) continue;
        slot.fail(current_failure(work, done, batch_size_));
        break;
      }
      done = end;
    }
    use.clock.count_samples(work.live ? work.live->samples : done - samples.begin);
  }
  use.clock.at(work.pass->epoch, work.first_batch + first_batch, 0);  // after these
}

bool request_executor::is_wanted(const staging_slot& slot) const noexcept {
  return !stopping_.load(std::memory_order_relaxed) &&
         !slot.work.pass->abandoned.load(std::memory_order_relaxed);
}

}  // namespace feedline::detail
