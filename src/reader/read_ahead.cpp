#include "reader/read_ahead.hpp"

#include "io/far_reads.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

namespace feedline::detail {

void read_ahead::before_reading(epoch_pass& pass, position first, position end,
                                std::vector<sample_index>& samples) const noexcept {
  if (blocks_ != nullptr || (cached_ && cached_->holds_all()) || !source_.wants_prefetch()) return;
  const std::uint64_t distance = std::max(distance_, far_hint_bytes() / sample_bytes_);
  // If hints were not wanted until now, everything before this was read without.
  hint_to(pass,
          {.earliest = first.value - std::min(first.value, in_flight_),
           .needed = end.value,
           .target = end.value + distance,
           .piece = piece_},
          samples);
}

void read_ahead::before_block(epoch_pass& pass, position needed,
                              std::vector<sample_index>& samples) const noexcept {
  if (blocks_ == nullptr || far_hint_bytes() == 0 || !source_.wants_prefetch()) return;
  const std::uint64_t index = blocks_->index_of(needed);
  const std::uint64_t distance = far_hint_bytes() / blocks_->usual_bytes();
  hint_to(pass,
          {.earliest = index, .needed = index + 1, .target = index + 1 + distance, .piece = 1},
          samples);
}

void read_ahead::hint_to(epoch_pass& pass, const reach& how,
                         std::vector<sample_index>& samples) const noexcept {
  std::unique_lock in_order{hinting_, std::defer_lock};
  if (hints_are_requests() && !in_order.try_lock()) {
    if (pass.hinted.load() >= std::min(how.needed, count_)) return;  // the other one goes further
    in_order.lock();
  }
  const bool is_alone = in_order.owns_lock();
  // An epoch may begin in its middle.
  hint_all(pass, std::max(how.earliest, first_of(pass)), std::min(how.target, count_), how.piece,
           is_alone, samples);
  if (how.target <= count_ || schedule_ == nullptr || cached_) return;
  if (const auto next = schedule_->after(pass)) {
    const std::uint64_t begin = first_of(*next);
    hint_all(*next, begin, std::min(begin + how.target - count_, count_), how.piece, is_alone,
             samples);
  }
}

/// @param is_alone Pieces count as hinted once they are, so that a reader that finds its samples
/// there finds them asked for. Else they do once a reader takes them.
void read_ahead::hint_all(epoch_pass& pass, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t piece, bool is_alone,
                          std::vector<sample_index>& samples) const noexcept {
  std::uint64_t hinted = pass.hinted.load();
  for (;;) {
    const std::uint64_t first = std::max(hinted, begin);
    if (first >= end || pass.abandoned.load()) return;
    const std::uint64_t piece_end = std::min(first + piece, end);
    if (!is_alone && !pass.hinted.compare_exchange_weak(hinted, piece_end)) continue;
    hint(pass, first, piece_end, samples);
    if (is_alone) pass.hinted.store(piece_end);
    if (pass.abandoned.load()) pass.forget_hints();  // it may not have seen this piece
    hinted = piece_end;
  }
}

void read_ahead::hint(const epoch_pass& pass, std::uint64_t begin, std::uint64_t end,
                      std::vector<sample_index>& samples) const noexcept try {
  const reads_for_pass its{pass.id};
  if (blocks_ != nullptr) {
    blocks_->samples(pass.epoch, begin, end, samples);
  } else {
    samples.resize(end - begin);
    source_.indices(pass.epoch, position{begin}, samples);
  }
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
