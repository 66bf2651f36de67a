#include "reader/read_ahead.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

read_ahead::read_ahead(const sample_source& source, const slot_plan& plan,
                       std::shared_ptr<const device_row_cache> cached)
    : source_{source},
      cached_{std::move(cached)},
      samples_{plan.samples_per_epoch},
      distance_{std::max(plan.batches_per_slot, std::uint64_t{2}) * plan.batch_size},
      piece_{std::max(plan.request_samples, std::uint64_t{1})},
      in_flight_{plan.staging_slots * plan.batches_per_slot * plan.batch_size} {}

void read_ahead::before_reading(epoch_run& run, position first, position end,
                                reader_scratch& use) const noexcept {
  if ((cached_ && cached_->holds_all()) || !source_.wants_prefetch()) return;
  const std::uint64_t target = std::min(end.value + distance_, samples_);
  // If hints were not wanted until now: what stands before this was read without.
  const std::uint64_t earliest = first.value - std::min(first.value, in_flight_);
  std::uint64_t hinted = run.hinted.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t begin = std::max(hinted, earliest);
    if (begin >= target) return;
    const std::uint64_t piece_end = std::min(begin + piece_, target);
    if (!run.hinted.compare_exchange_weak(hinted, piece_end, std::memory_order_relaxed)) continue;
    hint(run.epoch, begin, piece_end, use.samples);
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

}  // namespace feedline::detail
