#pragma once

#include <feedline/index.hpp>

#include "reader/epoch_schedule.hpp"
#include "reader/sample_source.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/request_layout.hpp"
#include "staging/staging_slot.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The blocks that readers read instead of samples, where the device decodes them. They are
/// numbered by their index in an epoch's order.
class hinted_blocks {
 public:
  hinted_blocks() = default;
  hinted_blocks(const hinted_blocks&) = delete;
  hinted_blocks& operator=(const hinted_blocks&) = delete;
  virtual ~hinted_blocks() = default;

  /// The number of blocks in an epoch.
  [[nodiscard]] virtual std::uint64_t count() const noexcept = 0;
  /// The bytes that a usual one is stored in; at least 1.
  [[nodiscard]] virtual std::uint64_t usual_bytes() const noexcept = 0;
  /// The index of the first block that a pass reads.
  [[nodiscard]] virtual std::uint64_t first_of(const epoch_pass& pass) const noexcept = 0;
  /// The index of a block, of which `needed` is the position that is told with its read.
  [[nodiscard]] virtual std::uint64_t index_of(position needed) const noexcept = 0;
  /// Replaces `out` by one sample of each block from `begin` to `end`.
  virtual void samples(std::uint64_t epoch, std::uint64_t begin, std::uint64_t end,
                       std::vector<sample_index>& out) const = 0;
};

/// Tells the dataset which samples will be read soon, so that a disk has many requests at once and
/// readers find the samples in memory.
///
/// Before a reader fills a request, it hints the samples between the last hint and some distance
/// past its request, in pieces that readers take in turn: two batches, or as many bytes as the rate
/// and the latency of far storage ask for. So at the start of an epoch all readers hint together,
/// and later there is one piece a request. Where hints become requests to other machines, one
/// reader hints at a time, so that what is needed first is asked for first; others wait for it only
/// if their own samples are not hinted yet. A sample is hinted once, before it is read. Near an
/// epoch's end, what is left of the distance reaches into the epoch that follows in line, if there
/// is one. If that is abandoned, its hints were in vain: no more bytes than the distance.
///
/// Where the device decodes blocks, these are hinted, by a sample of each. That is for far storage
/// alone: at a disk there are as many requests as readers.
///
/// Costs one virtual call a request while the dataset wants no hints. Any number of readers.
class read_ahead {
 public:
  /// Borrows the source, the schedule and the blocks for its life. @param cached Null if the device
  /// keeps no rows; rows that it holds are not read, so not hinted. Those of the next epoch are not
  /// known before it.
  /// @param schedule Null: nothing is hinted across an epoch's end.
  /// @param blocks Null: readers read samples. Else no rows are kept: a device keeps blocks then.
  read_ahead(const sample_source& source, const slot_plan& plan,
             std::shared_ptr<const device_row_cache> cached = nullptr,
             epoch_schedule* schedule = nullptr, const hinted_blocks* blocks = nullptr)
      : source_{source},
        cached_{blocks == nullptr ? std::move(cached) : nullptr},
        schedule_{schedule},
        blocks_{blocks},
        count_{blocks == nullptr ? plan.samples_per_epoch : blocks->count()},
        batch_size_{plan.batch_size},
        distance_{std::max(plan.batches_per_slot, std::uint64_t{2}) * plan.batch_size},
        sample_bytes_{std::max(source.sample_bytes(), std::uint64_t{1})},
        piece_{std::max(plan.request_samples, std::uint64_t{1})},
        in_flight_{plan.staging_slots * std::max(plan.piece_samples, plan.batch_size)} {}

  /// @param first,end Positions about to be read.
  /// @param samples Kept by the calling reader to avoid allocation.
  void before_reading(epoch_pass& pass, position first, position end,
                      std::vector<sample_index>& samples) const noexcept;
  /// @param needed The position that is told with the read of a block.
  void before_block(epoch_pass& pass, position needed,
                    std::vector<sample_index>& samples) const noexcept;

 private:
  /// The part that a reader hints, by index among the samples or blocks of an epoch.
  struct reach {
    std::uint64_t earliest;  ///< nothing before it
    std::uint64_t needed;    ///< end of what the reader is about to read
    std::uint64_t target;    ///< end of all; may be beyond the epoch's end
    std::uint64_t piece;     ///< number that is hinted by one call
  };
  void hint_to(epoch_pass& pass, const reach& how,
               std::vector<sample_index>& samples) const noexcept;
  void hint_all(epoch_pass& pass, std::uint64_t begin, std::uint64_t end, std::uint64_t piece,
                bool is_alone, std::vector<sample_index>& samples) const noexcept;
  void hint(const epoch_pass& pass, std::uint64_t begin, std::uint64_t end,
            std::vector<sample_index>& samples) const noexcept;
  [[nodiscard]] std::uint64_t first_of(const epoch_pass& pass) const noexcept {
    return blocks_ == nullptr ? pass.first_batch * batch_size_ : blocks_->first_of(pass);
  }

  const sample_source& source_;
  std::shared_ptr<const device_row_cache> cached_;
  epoch_schedule* const schedule_;
  const hinted_blocks* const blocks_;
  std::uint64_t count_;  ///< samples or blocks of an epoch
  std::uint64_t batch_size_;
  std::uint64_t distance_;  ///< samples between the end of the request about to be read and the
                            ///< last one hinted, at least; more of them where storage is far
  std::uint64_t sample_bytes_;
  std::uint64_t piece_;
  std::uint64_t in_flight_;     ///< the most samples taken by readers and not read yet
  mutable std::mutex hinting_;  ///< held by the reader that hints, where hints become requests
};

}  // namespace feedline::detail
