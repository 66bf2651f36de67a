#pragma once

#include <feedline/index.hpp>

#include "reader/loader_forecast.hpp"
#include "reader/read_ahead.hpp"
#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/request_layout.hpp"
#include "staging/staging_ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Fills requests, run by run, and marks slots whose reads fail. Threads: `fill` by any number of
/// readers, `stop` by any thread.
class request_executor {
 public:
  /// Borrows all for its life. @param ahead Null: no hints are given.
  /// @param forecast Is told which samples are read. Null: there is none.
  /// @param live Waits for samples before they are read, if they come meanwhile. Null: they are all
  /// there.
  request_executor(std::uint64_t batch_size, slot_writer& writer, staging_ring& staging,
                   const read_ahead* ahead = nullptr, loader_forecast* forecast = nullptr,
                   const sample_source* live = nullptr)
      : batch_size_{batch_size},
        writer_{writer},
        staging_{staging},
        ahead_{ahead},
        forecast_{forecast},
        live_{live} {}

  /// Fills one request and counts it as done; true if it was its slot's last. A failed read only
  /// marks the slot: the transfer sees the mark after everything before it was delivered.
  /// @param use The calling reader's; its clock already counts as busy. A block that cannot be read
  /// is marked in its table, and reported where its samples are.
  bool fill(request request, reader_scratch& use);

  /// Stops taking requests; slots in progress never become filled.
  void stop() noexcept { stopping_.store(true); }
  [[nodiscard]] const std::atomic<bool>& stopping() const noexcept { return stopping_; }

 private:
  void read_samples(staging_slot& slot, sample_run samples, reader_scratch& use);
  void read_block(staging_slot& slot, std::uint32_t number, reader_scratch& use);
  [[nodiscard]] bool is_wanted(const staging_slot& slot) const noexcept;

  const std::uint64_t batch_size_;
  slot_writer& writer_;
  staging_ring& staging_;
  const read_ahead* const ahead_;
  loader_forecast* const forecast_;
  const sample_source* const live_;
  std::atomic<bool> stopping_{false};
};

}  // namespace feedline::detail
