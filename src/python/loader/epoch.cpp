#include "python/loader/epoch.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace feedline::python {
namespace {

using namespace std::chrono_literals;

constexpr auto until_signals = 100ms;
/// Longer than the library waits before it says that no batch can be delivered, as all are held.
constexpr auto until_refusal = 2500ms;
/// Where other threads could end batches, but do not.
constexpr auto until_warning = 10s;

}  // namespace

epoch_object::~epoch_object() {
  unlocked([this] {
    const auto own = core_->turn();
    range_.reset();
  });
}

std::optional<batch_object> epoch_object::next(time_point deadline) {
  optional_batch found = try_next();
  if (!found) found = wait_until(deadline);
  if (!found) return std::nullopt;
  return batch_object{std::make_shared<const batch>(std::move(*found))};
}

optional_batch epoch_object::try_next() {
  // Letting go of the lock costs little, but to have it again may take milliseconds where other
  // Python threads compute: so a batch that is there is taken with it.
  if (!core_->in_background()) return std::nullopt;
  const auto own = core_->try_turn();
  if (!own) return std::nullopt;
  try {
    return range_->next(time_point{});
  } catch (const deadline_error&) {
    return std::nullopt;
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
      return unlocked([&] {
        const auto own = core_->turn();
        return range_->next(std::min(deadline, std::chrono::steady_clock::now() + slice));
      });
    } catch (const deadline_error& late) {
      if (std::chrono::steady_clock::now() >= deadline) throw;
      slice = late.where().all_held ? until_refusal : until_signals;
      if (late.where().all_held) warn_of_held_batches(late, std::chrono::steady_clock::now());
    }
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
}

}  // namespace feedline::python
