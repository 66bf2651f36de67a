#include "loader/pipeline/tuning.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

/// A window is this fraction of an epoch's batches, within these limits: a search takes a dozen
/// windows, two dozen at worst, and should end within an epoch.
constexpr std::uint64_t windows_an_epoch = 64;
constexpr std::uint64_t fewest_batches = 4;
constexpr std::uint64_t max_batches = 32;
constexpr std::chrono::milliseconds shortest_window{100};
constexpr std::uint64_t fewest_tuned_slots = 4;
/// If readers are fast, slots grow until then.
constexpr std::uint64_t first_slots = 12;

std::chrono::nanoseconds working_time(const stage_totals& of) {
  std::chrono::nanoseconds time{};
  for (const activity each :
       {activity::busy, activity::starved, activity::stalled, activity::copy_wait})
    time += of.time.at(static_cast<std::size_t>(each));
  return time;
}

}  // namespace

tuning::tuning(const loader_plan& plan, active_readers& readers, staging_ring& staging,
               activity_recorder& recorder)
    : readers_{readers},
      staging_{staging},
      recorder_{recorder},
      most_{plan.readers, plan.staging_slots},
      window_batches_{
          std::clamp(plan.batches_per_epoch / windows_an_epoch, fewest_batches, max_batches)},
      wanted_slots_{first_slots},
      tuner_{{plan.first_readers, plan.first_staging_slots}, most_} {
  apply();
}

bool tuning::ends_window(const stage_clock& consumer) noexcept {
  if (++slots_ < wanted_slots_) return false;
  if (!measuring_) return true;
  const stage_totals now = consumer.look(consumer.since());
  return now.batches - began_batches_ >= window_batches_ &&
         (eager_ || working_time(now) - began_time_ >= shortest_window);
}

void tuning::learn(loader_statistics now) noexcept {
  bool changed = false;
  if (measuring_) {
    const std::scoped_lock lock{mutex_};
    const tuner::setting before = tuner_.current();
    const bool had_settled = tuner_.settled();
    try {
      loader_statistics window = now.since(began_);
      if (eager_) window.exposed = window.consumer.time();
      changed = !(tuner_.learn(window) == before);
    } catch (...) {  // no memory to record the measurement
      changed = true;
    }
    if (tuner_.settled() && !had_settled) searched_batches_ = now.consumer.batches;
  }
  if (changed) apply();
  slots_ = 0;
  measuring_ = !changed;
  wanted_slots_ = changed ? staging_.circulating() : fewest_tuned_slots;
  began_batches_ = now.consumer.batches;
  began_time_ = now.consumer.time();
  began_ = std::move(now);
}

void tuning::make_room(std::size_t held) noexcept {
  if (held < staging_.circulating() || held >= most_.slots) return;
  held_ = held + 1;
  apply();
}

void tuning::apply() noexcept {
  readers_.set(tuner_.current().readers);
  staging_.circulate(std::max(tuner_.current().slots, held_));
  recorder_.on_tuning(tuner_.current().readers, staging_.circulating());
}

tuning_statistics tuning::look() const {
  const std::scoped_lock lock{mutex_};
  return {.on = true,
          .settled = tuner_.settled(),
          .readers = static_cast<unsigned>(tuner_.current().readers),
          .max_readers = static_cast<unsigned>(most_.readers),
          .staging_slots = staging_.circulating(),
          .max_staging_slots = most_.slots,
          .searched_batches = searched_batches_,
          .why = tuner_.why()};
}

}  // namespace feedline::detail
