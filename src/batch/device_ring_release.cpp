// How the use of a slot ends: leases, uses on further streams, and releases that a capture
// postpones.

#include <feedline/error.hpp>

#include "batch/device_ring.hpp"
#include "detail/log.hpp"
#include "device/leak.hpp"

#include <exception>
#include <mutex>
#include <utility>

namespace feedline::detail {

void device_ring::end_lease(slot_index slot) noexcept {
  users_.touches();
  device_slot& leased = (*this)[slot];
  if (leased.leases.end([&] { mark_released(leased); })) end_use(slot);
}

void device_ring::mark_released(device_slot& leased) noexcept {
  if (in_place_) return;
  try {
    const stream_ref consumers = consumers_stream(leased);
    further_streams& further = leased.further;
    if (device()->is_capturing(consumers)) return postpone_mark(leased);
    if (further.used()) {
      if (!further.mark_captured(*untraced_)) return postpone_mark(leased);
      further.release(*untraced_, consumers, leased.released.get());
    } else {
      device()->record(leased.released.get(), consumers);
    }
    leased.unmarked = false;
    leased.lost = further.lost();  // where an earlier mark was refused, this mark replaces it
  } catch (...) {
    // Without the mark it is unknown when the slot may be used again, so it never is.
    leased.lost = leased.further.used() ||
                  !try_record_behind(*device(), leased.stream, {leased.released.get()});
    report(leased);
  }
}

void device_ring::postpone_mark(device_slot& leased) {
  if (std::exchange(leased.unmarked, true)) return;
  log()->warn(
      "a batch of epoch {} was destroyed while its stream was being captured: its memory is used "
      "again after the capture; work captured on it must not run then",
      leased.content.pass->epoch);
}

stream_ref device_ring::as_named_here(stream_ref stream, std::thread::id named_by) const {
  return std::this_thread::get_id() == named_by ? stream : device()->for_any_thread(stream);
}

bool device_ring::begin_use_on(slot_index slot, stream_ref stream) {
  device_slot& leased = (*this)[slot];
  const stream_ref consumers = consumers_stream(leased);
  if (stream == consumers) return false;
  device()->check(stream);
  if (device()->is_capturing(stream)) {
    throw usage_error{
        "a batch cannot be used on a stream that is being captured: the graph would wait for "
        "this one batch each time it is launched. Do it before the capture, or use the batch on "
        "the stream it was taken on"};
  }
  if (device()->is_capturing(consumers)) {
    throw usage_error{
        "a batch cannot be used on another stream while the one it was taken on is being "
        "captured: do it before the capture, or after it"};
  }
  leased.further.begin(untraced_, consumers, stream);
  return true;
}

void device_ring::end_use_on(slot_index slot, stream_ref stream,
                             std::thread::id begun_by) noexcept {
  device_slot& used = (*this)[slot];
  try {
    used.further.end(*untraced_, as_named_here(stream, begun_by));
  } catch (...) {
    report(used);
  }
}

void device_ring::end_use(slot_index slot) noexcept {
  device_slot& leased = (*this)[slot];
  if (leased.lost) return;
  try {
    if (leased.unmarked) {
      const std::scoped_lock lock{unfinished_mutex_};
      postponed_.push_back(slot);
      return count_unfinished();
    }
    if (is_further(slot)) return end_further(slot);
    move(slot, device_state::leased, device_state::free);
    recycle(slot);
  } catch (...) {
    report(leased);
  }
}

void device_ring::report(const device_slot& leased) noexcept {
  failures_->report(failure{leased.content.at(stage::batch), std::current_exception()});
  close();
}

std::optional<slot_index> device_ring::take_postponed() noexcept {
  const std::scoped_lock lock{unfinished_mutex_};
  if (postponed_.empty()) return std::nullopt;
  const slot_index first = postponed_.front();
  postponed_.erase(postponed_.begin());
  count_unfinished();
  return first;
}

std::size_t device_ring::end_postponed() noexcept {
  if (unfinished_.load() == 0) return 0;
  const auto postponed = [&] {
    const std::scoped_lock lock{unfinished_mutex_};
    return postponed_.size();
  };
  for (std::size_t left = postponed(); left != 0; --left) {
    const auto slot = take_postponed();
    if (!slot) break;
    mark_released((*this)[*slot]);
    end_use(*slot);
  }
  free_spare();
  return postponed();
}

}  // namespace feedline::detail
