#pragma once

#include "reader/read_ahead.hpp"
#include "reader/slot_writer.hpp"
#include "staging/staging_ring.hpp"

#include <atomic>
#include <cstdint>

namespace feedline::detail {

/// Fills requests, run by run, and marks slots whose reads fail. Threads: `fill` by any number of
/// readers, `stop` by any thread.
class request_executor {
 public:
  /// Borrows all three for its life. @param ahead Null: no hints are given.
  request_executor(std::uint64_t batch_size, slot_writer& reader, staging_ring& staging,
                   const read_ahead* ahead = nullptr);

  /// Fills one request and counts it as done; true if it was its slot's last. A read that fails
  /// marks the slot, no more: the transfer meets the mark when all before it was delivered.
  /// @param use The calling reader's.
  bool fill(request request, reader_scratch& use);

  /// What was not begun is not read any more, and no slot becomes filled.
  void stop() noexcept { stopping_.store(true); }

 private:
  void read(staging_slot& slot, sample_run samples, reader_scratch& use);
  void hint(const staging_slot& slot, sample_run samples, reader_scratch& use) const noexcept;
  [[nodiscard]] bool is_wanted(const staging_slot& slot) const noexcept;
  void fail(staging_slot& slot, std::uint64_t begin) noexcept;

  const std::uint64_t batch_size_;
  slot_writer& reader_;
  staging_ring& staging_;
  const read_ahead* const ahead_;
  std::atomic<bool> stopping_{false};
};

}  // namespace feedline::detail
