#pragma once

#include <feedline/index.hpp>
#include <feedline/loader/loader_plan.hpp>

#include "detail/channel.hpp"
#include "loader/epoch_schedule.hpp"
#include "reader/request.hpp"
#include "reader/slot_cutter.hpp"
#include "staging/staging_ring.hpp"

#include <atomic>
#include <memory>
#include <optional>

namespace feedline::detail {

/// Gives readers their next request, and turns tickets into requests when there are none left.
///
/// Whichever reader finds nothing to do opens the next ticket: it claims a staging slot, waiting
/// for the slot's last copy if it must, and offers the slot's requests to all. One reader opens at
/// a time, the others sleep; so each thread waits for one thing only, and no thread does nothing
/// but wait.
class opener {
 public:
  /// Borrows all three for its life.
  opener(const loader_plan& plan, epoch_schedule& schedule, staging_ring& staging,
         slot_cutter cutter);

  /// The next request, in ticket order; blocks. Nothing once the schedule or the ring is closed and
  /// the requests that were offered are taken. Any reader.
  [[nodiscard]] std::optional<request> next();

  /// Closes the schedule and the ring too: all readers wake, whatever they wait for, and end once
  /// the requests that were offered are taken. Any thread.
  void close() noexcept;

 private:
  bool open_next();
  void open(const scheduled_ticket& next, slot_index slot);

  const loader_plan& plan_;
  const slot_cutter cutter_;
  epoch_schedule& schedule_;
  staging_ring& staging_;
  channel<request> requests_;
  std::atomic<bool> opening_{false};  ///< somebody opens; a lock whose waiters wait for requests
};

}  // namespace feedline::detail
