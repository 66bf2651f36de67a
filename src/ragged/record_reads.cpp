#include "ragged/record_reads.hpp"

#include <algorithm>

namespace feedline::detail {

void record_reads::put_back::operator()(kept* record) const noexcept {
  const std::lock_guard lock{to->mutex_};
  to->idle_.emplace_back(record);
}

/// The record, if it is kept; else memory that holds none that is still needed.
std::unique_ptr<record_reads::kept, record_reads::put_back> record_reads::take(
    std::uint64_t sample) {
  {
    const std::lock_guard lock{mutex_};
    auto at = std::ranges::find_if(
        idle_, [&](const auto& each) { return each->uses_left != 0 && each->sample == sample; });
    if (at == idle_.end()) at = std::ranges::find(idle_, 0U, &kept::uses_left);
    // Records whose other fields were never read give way.
    if (at == idle_.end() && idle_.size() > made_ / 2) at = idle_.begin();
    if (at != idle_.end()) {
      std::unique_ptr<kept, put_back> taken{at->release(), {this}};
      idle_.erase(at);
      return taken;
    }
    ++made_;
    idle_.reserve(made_);  // so that handing back cannot fail
  }
  return {std::make_unique<kept>().release(), {this}};
}

record_reads::lease record_reads::read(std::uint64_t sample) {
  auto taken = take(sample);
  if (taken->uses_left != 0 && taken->sample == sample) {
    --taken->uses_left;
    return lease{std::move(taken)};
  }
  taken->uses_left = 0;
  taken->record =
      of_->read(sample, [&](std::size_t bytes) { return room_in(taken->memory, bytes); });
  taken->sample = sample;
  taken->uses_left = fields_ - 1;
  return lease{std::move(taken)};
}

}  // namespace feedline::detail
