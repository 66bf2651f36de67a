#include "reader/epoch_schedule.hpp"

#include <algorithm>
#include <iterator>

namespace feedline::detail {

epoch_schedule::epoch_schedule(std::uint64_t batches_per_epoch, std::uint64_t epochs)
    : batches_per_epoch_{batches_per_epoch}, epochs_{epochs} {
  if (epochs_ > 0) append(0);
}

std::shared_ptr<epoch_pass> epoch_schedule::claim(std::uint64_t epoch, std::uint64_t first_batch,
                                                  epoch_losses before) {
  const std::scoped_lock lock{mutex_};
  const auto is_another = [&](const epoch_pass& guess) {
    return guess.epoch != epoch || guess.first_batch != first_batch ||
           guess.losses_before != before;
  };
  if (!line_.empty() && !line_.back().claimed && is_another(*line_.back().pass)) {
    line_.back().pass->abandon();
    line_.pop_back();
  }
  if (line_.empty() || line_.back().claimed) append(epoch, first_batch, before);
  line_.back().claimed = true;
  auto pass = line_.back().pass;
  if (epochs_ != 0 && epoch < epochs_ - 1) append(epoch + 1);
  changed_.notify_all();
  return pass;
}

void epoch_schedule::abandon_all() {
  const std::scoped_lock lock{mutex_};
  abandon_line();
  changed_.notify_all();
}

void epoch_schedule::abandon_line() noexcept {
  for (const entry& each : line_) each.pass->abandon();
  line_.clear();
}

void epoch_schedule::seek(std::uint64_t epoch, std::uint64_t first_batch, epoch_losses before) {
  const std::scoped_lock lock{mutex_};
  abandon_line();
  if (epoch < epochs_) append(epoch, first_batch, before);
  changed_.notify_all();
}

bool epoch_schedule::begin(const std::shared_ptr<epoch_pass>& pass) {
  const std::scoped_lock lock{mutex_};
  const auto place = std::find_if(line_.begin(), line_.end(),
                                  [&](const entry& each) { return each.pass == pass; });
  if (place == line_.end()) return false;
  std::for_each(line_.begin(), place, [](const entry& each) { each.pass->abandon(); });
  line_.erase(line_.begin(), place);
  changed_.notify_all();
  return true;
}

void epoch_schedule::end(const std::shared_ptr<epoch_pass>& pass) {
  const std::scoped_lock lock{mutex_};
  pass->abandon();
  std::erase_if(line_, [&](const entry& each) { return each.pass == pass; });
  changed_.notify_all();
}

std::shared_ptr<epoch_pass> epoch_schedule::after(const epoch_pass& pass) {
  const std::scoped_lock lock{mutex_};
  const auto place = std::find_if(line_.begin(), line_.end(),
                                  [&](const entry& each) { return each.pass.get() == &pass; });
  if (place == line_.end() || std::next(place) == line_.end()) return nullptr;
  return std::next(place)->pass;
}

void epoch_schedule::await_abandoned(const epoch_pass& pass, stage_clock* clock) {
  std::unique_lock lock{mutex_};
  const auto is_over = [&] { return closed_ || pass.abandoned.load(); };
  if (is_over()) return;
  const in_activity waiting{clock, activity::stalled};
  changed_.wait(lock, is_over);
}

std::optional<scheduled_ticket> epoch_schedule::take(stage_clock* clock) {
  std::unique_lock lock{mutex_};
  entry* next = first_unopened();
  const bool waited = next == nullptr;
  if (waited && !closed_) {
    const in_activity waiting{clock, activity::starved};
    changed_.wait(lock, [&] { return closed_ || (next = first_unopened()) != nullptr; });
  }
  if (closed_) return std::nullopt;
  return scheduled_ticket{next->pass, ticket{next->next_ticket}, next->next_batch, waited};
}

void epoch_schedule::opened(const scheduled_ticket& taken, std::uint64_t batches) {
  const std::scoped_lock lock{mutex_};
  for (entry& each : line_) {
    if (each.pass != taken.pass) continue;  // it may have left the line meanwhile
    ++each.next_ticket;
    each.next_batch += batches;
  }
}

epoch_schedule::entry* epoch_schedule::first_unopened() {
  const auto place = std::find_if(line_.begin(), line_.end(), [&](const entry& each) {
    return each.next_batch < batches_per_epoch_;
  });
  return place == line_.end() ? nullptr : &*place;
}

}  // namespace feedline::detail
