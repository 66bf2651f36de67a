#pragma once

#include <feedline/index.hpp>

#include "reader/loader_forecast.hpp"
#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/request_layout.hpp"
#include "staging/staging_ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Tells the dataset which samples will be read soon, so that a disk has many requests at once and
/// readers find the samples in memory.
///
/// Before a reader fills a request, it hints the samples between the last hint and some distance
/// past its request, in pieces that readers take in turn: two batches, or as many bytes as the rate
/// and the latency of far storage ask for. So at the start of an epoch all readers hint together,
/// and later there is one piece a request. A sample is hinted once, before it is read. Nothing is
/// hinted across an epoch's end: the last hinted samples are still in flight when the next epoch
/// begins.
///
/// Costs one virtual call a request while the dataset wants no hints. Any number of readers.
class read_ahead {
 public:
  /// Borrows the source for its life. @param cached Null if the device keeps no rows; rows that it
  /// holds are not read, so not hinted.
  read_ahead(const sample_source& source, const slot_plan& plan,
             std::shared_ptr<const device_row_cache> cached = nullptr)
      : source_{source},
        cached_{std::move(cached)},
        samples_{plan.samples_per_epoch},
        batch_size_{plan.batch_size},
        distance_{std::max(plan.batches_per_slot, std::uint64_t{2}) * plan.batch_size},
        sample_bytes_{std::max(source.sample_bytes(), std::uint64_t{1})},
        piece_{std::max(plan.request_samples, std::uint64_t{1})},
        in_flight_{plan.staging_slots * std::max(plan.piece_samples, plan.batch_size)} {}

  /// @param first,end Positions about to be read.
  /// @param use The calling reader's.
  void before_reading(epoch_pass& pass, position first, position end,
                      reader_scratch& use) const noexcept;

 private:
  void hint(std::uint64_t epoch, std::uint64_t begin, std::uint64_t end,
            std::vector<sample_index>& samples) const noexcept;

  const sample_source& source_;
  std::shared_ptr<const device_row_cache> cached_;
  std::uint64_t samples_;
  std::uint64_t batch_size_;
  std::uint64_t distance_;  ///< samples between the end of the request about to be read and the
                            ///< last one hinted, at least; more of them where storage is far
  std::uint64_t sample_bytes_;
  std::uint64_t piece_;
  std::uint64_t in_flight_;  ///< the most samples taken by readers and not read yet
};

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
