#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include "queue/live_source.hpp"
#include "reader/read_retries.hpp"
#include "sampler/epoch_share.hpp"
#include "staging/slot_repairs.hpp"
#include "staging/staging_slot.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// "sample 7", "samples 24 to 27", or "samples 7, 3, 12 and 253 more".
/// @param more Number of samples besides those that are given.
[[nodiscard]] std::string names_of(std::span<const sample_index> samples, std::uint64_t more = 0);

/// Where readers get samples: an epoch's order, and the rows. Any number of readers.
class sample_source {
 public:
  /// @param seed Seed of the samples' random transforms.
  /// @param share The part of each epoch that the order covers; by default all of it.
  /// @param errors Says which reads are retried, and which unreadable samples are reported.
  sample_source(dataset_ptr dataset, feedline::sampler order, std::uint64_t seed = 0,
                const epoch_share& share = {}, const error_policy& errors = {})
      : dataset_{std::move(dataset)},
        live_{dynamic_cast<const live_source*>(dataset_.get())},
        order_{std::move(order)},
        samples_{dataset_->size()},
        seed_{seed},
        share_{share},
        retries_{errors} {}

  /// Number of samples of the dataset.
  [[nodiscard]] std::uint64_t size() const noexcept { return samples_; }
  /// Bytes of a sample, as the dataset gives it.
  [[nodiscard]] std::uint64_t sample_bytes() const {
    std::uint64_t bytes = 0;
    for (const field& each : dataset_->fields()) bytes += feedline::sample_bytes(each);
    return bytes;
  }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// The index in the epoch's order, over all ranks, of a position of this rank's order. The
  /// rest of its batch follows there.
  [[nodiscard]] position in_epoch(position own) const noexcept { return share_.at(own.value); }
  /// Writes the dataset's indices of the samples at `first` and the following positions.
  /// @throws usage_error naming the sampler, the position and the sample; what the sampler throws.
  void indices(std::uint64_t epoch, position first, std::span<sample_index> out) const;
  /// Same as `dataset::wants_prefetch` and `prefetch`.
  [[nodiscard]] bool wants_prefetch() const noexcept { return dataset_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept {
    dataset_->prefetch(samples);
  }
  /// Same as `dataset::read`, but reads are retried as the error policy says.
  /// @param request Its context has this source's seed and the run's epoch.
  /// @param bad Gets the unreadable samples, if the policy handles them: then their bytes are
  /// undefined, and all others are read.
  /// @throws dataset_error; any other exception of the dataset's is nested in one that names
  /// samples.
  void read(const epoch_pass& pass, const read_request& request,
            std::vector<unreadable_sample>& bad) const;

  /// The dataset, if its samples come while it is read; else null.
  [[nodiscard]] const live_source* live() const noexcept { return live_; }
  /// Same as `await` of `live()`, until the pass is abandoned or the source is stopped.
  /// @param clock The reader's: it does not read meanwhile.
  void await_live(const std::shared_ptr<epoch_pass>& pass, std::uint64_t most,
                  stage_clock& clock) const;

  /// Reads that failed at first and succeeded on a retry. Any thread.
  [[nodiscard]] std::uint64_t recovered_reads() const noexcept { return retries_.recovered(); }
  /// Stops all retries, and waits for samples; threads that pause wake. Any thread.
  void stop() noexcept {
    retries_.stop();
    is_stopped_.store(true);
    if (live_ != nullptr) live_->wake();
  }

 private:
  dataset_ptr dataset_;
  const live_source* live_;
  std::atomic<bool> is_stopped_{false};
  feedline::sampler order_;
  std::uint64_t samples_;
  std::uint64_t seed_;
  epoch_share share_;
  mutable read_retries retries_;
};

}  // namespace feedline::detail
