#pragma once

#include "reader/reader_scratch.hpp"
#include "staging/request_layout.hpp"
#include "staging/staging_slot.hpp"

namespace feedline::detail {

/// Reads one run of samples into a staging slot, in the form in which the slot travels on.
///
/// Threads: any number of readers, on different runs of a slot. What it throws marks the run as
/// failed: the slot is delivered up to the batch before it.
class slot_writer {
 public:
  slot_writer() = default;
  slot_writer(const slot_writer&) = delete;
  slot_writer& operator=(const slot_writer&) = delete;
  virtual ~slot_writer() = default;

  /// @param run Within one batch of the slot.
  /// @param use The calling reader's; what it holds means nothing between calls.
  virtual void read(staging_slot& slot, sample_run run, reader_scratch& use) = 0;
};

}  // namespace feedline::detail
