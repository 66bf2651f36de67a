#pragma once

#include <feedline/index.hpp>

#include "staging/request_layout.hpp"
#include "staging/staging_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// What one reader needs for a run of samples; kept from run to run so that reading allocates
/// nothing. It belongs to a reader of one loader, not to a thread: a dataset's `read` may use
/// another loader, whose runs are then read on the same thread in the midst of one.
struct reader_scratch {
  std::vector<sample_index> samples;      ///< of the run
  std::vector<sample_index> missing;      ///< those of them that must be read
  std::vector<position> missing_at;       ///< and where each of these stands
  std::vector<std::uint32_t> cached_as;   ///< for each of these, the cached row that it becomes
  std::vector<std::span<std::byte>> out;  ///< where the dataset reads to
  std::vector<std::byte> rows;            ///< as the dataset has them, where they are converted
};

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
