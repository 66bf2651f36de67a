#pragma once

#include <feedline/index.hpp>

#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_work.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace feedline::detail {

/// Tells the dataset which samples will be read soon, so that a disk has many to do at once,
/// and readers find them in memory.
///
/// Each reader, before it fills a request, hints what stands between the last hint and some way
/// behind its request, in pieces, which readers take in turns. So all hint together where an epoch
/// begins, and one piece a request from then on; a sample is hinted once, before it is read.
/// Nothing is hinted across an epoch's end: what was hinted last is still on its way when the next
/// begins.
///
/// Costs one virtual call a request while the dataset wants no hints. Any number of readers.
class read_ahead {
 public:
  /// Borrows the source for its life. @param kept Null where the device keeps no rows; what it
  /// holds is not read, so not hinted.
  read_ahead(const sample_source& source, const slot_plan& plan,
             std::shared_ptr<const device_row_cache> cached = nullptr);

  /// Samples between the end of what is about to be read and the end of what was hinted.
  [[nodiscard]] std::uint64_t distance() const noexcept { return distance_; }

  /// @param first,end Positions about to be read.
  /// @param use The calling reader's.
  void before_reading(epoch_run& run, position first, position end,
                      reader_scratch& use) const noexcept;

 private:
  void hint(std::uint64_t epoch, std::uint64_t begin, std::uint64_t end,
            std::vector<sample_index>& samples) const noexcept;

  const sample_source& source_;
  std::shared_ptr<const device_row_cache> cached_;
  std::uint64_t samples_;
  std::uint64_t distance_;
  std::uint64_t piece_;
  std::uint64_t in_flight_;  ///< samples, at most, that are taken by readers and not read yet
};

}  // namespace feedline::detail
