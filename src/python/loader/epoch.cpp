#include "python/loader/epoch.hpp"

#include "python/errors.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>

namespace feedline::python {
namespace {

using namespace std::chrono_literals;

/// Longer than the library waits before it says that no batch can be delivered, as all are held.
constexpr auto until_refusal = 2500ms;
/// Where other threads could end batches, but do not.
constexpr auto until_warning = 10s;

}  // namespace

std::optional<batch_object> epoch_object::next(time_point deadline) {
  if (ended_) return std::nullopt;
  require_open();
  optional_batch found = try_next();
  if (!found) found = wait_until(deadline);
  if (!found) {
    require_open();  // the library ends an epoch that it cannot deliver
    ended_ = true;
    return std::nullopt;
  }
  if (!names_) names_ = std::make_shared<const field_names>(*found);
  return batch_object{std::make_shared<const batch>(std::move(*found)), names_};
}

optional_batch epoch_object::try_next() {
  // Letting go of the lock costs little, but to have it again may take milliseconds where other
  // Python threads compute: so a batch that is there is taken with it.
  if (!core_->in_background()) return std::nullopt;
  const auto own = core_->try_turn();
  if (!own) return std::nullopt;
  try {
    return range_.front().next(time_point{});
  } catch (const deadline_error&) {
    return std::nullopt;
  } catch (const stage_error&) {
    return std::nullopt;  // the next step throws it again, in `wait_in_turn`
  }
}

void epoch_object::tell_note() {
  // Before a batch is taken: where warnings are errors, none is lost.
  const auto text = core_->note().take();
  if (text && PyErr_WarnEx(PyExc_RuntimeWarning, text->c_str(), 1) != 0) nb::raise_python_error();
}

void epoch_object::warn_of_held_batches(const deadline_error& late, time_point now) {
  if (!waits_for_others_since_) waits_for_others_since_ = now;
  if (warned_ || now - *waits_for_others_since_ < until_warning) return;
  warned_ = true;
  const std::string words = std::string{"waiting on: "} + late.what();
  if (PyErr_WarnEx(PyExc_RuntimeWarning, words.c_str(), 1) != 0) nb::raise_python_error();
}

optional_batch epoch_object::wait_until(time_point deadline) {
  std::chrono::milliseconds slice = until_signals;
  waits_for_others_since_.reset();
  for (;;) {
    tell_note();
    try {
      return wait_in_turn(std::min(deadline, std::chrono::steady_clock::now() + slice));
    } catch (const deadline_error& late) {
      if (std::chrono::steady_clock::now() >= deadline) throw;
      slice = late.where().all_held ? until_refusal : until_signals;
      if (late.where().all_held) warn_of_held_batches(late, std::chrono::steady_clock::now());
    }
    run_signal_handlers();
    require_open();
  }
}

optional_batch epoch_object::wait_in_turn(time_point deadline) {
  const auto own = core_->take_turn("Epoch.next");
  const interruption interrupted;
  try {
    return unlocked([&] { return range_.front().next(deadline); });
  } catch (const deadline_error&) {
    if (!interrupted.is_any()) throw;
  } catch (const stage_error&) {
    if (!interrupted.is_any() && !ends_all(std::current_exception())) throw;
    read_again();
    interrupted.raise_if_any();
    throw;
  }
  read_again();
  interrupted.raise_if_any();
  return {};
}

void epoch_object::read_again() {
  try {
    core_->at_any_time([&](loader& on) {  // this thread has the turn
      const loader_state at = on.state();
      if (at.epoch != number_) return;
      on.seek(at);
      range_.front() = on.epoch(number_, stream_);
    });
  } catch (const error&) {  // NOLINT(bugprone-empty-catch): later calls say what ended the loader
  }
}

void epoch_object::require_open() const {
  if (!core_->is_closed()) return;
  core_->require_open(", and epoch " + std::to_string(number_) +
                      " had not ended: take all batches that you need before Loader.close()");
}

}  // namespace feedline::python
