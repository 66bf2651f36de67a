#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include "reader/read_retries.hpp"
#include "sampler/epoch_share.hpp"
#include "staging/slot_repairs.hpp"
#include "staging/staging_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// "sample 7", "samples 24 to 27", or "samples 7, 3, 12 and 253 more".
/// @param more Behind those that are given.
[[nodiscard]] std::string names_of(std::span<const sample_index> samples, std::uint64_t more = 0);

/// Where readers get samples: an epoch's order, and the rows. Any number of readers.
class sample_source {
 public:
  /// @param seed Of what is random about a sample.
  /// @param share What the order is of an epoch's; by default all of it.
  /// @param errors Which reads are tried again, and which samples told that cannot be read.
  sample_source(dataset_ptr dataset, feedline::sampler order, std::uint64_t seed = 0,
                const epoch_share& share = {}, const error_policy& errors = {})
      : dataset_{std::move(dataset)},
        order_{std::move(order)},
        samples_{dataset_->size()},
        seed_{seed},
        share_{share},
        retries_{errors} {}

  /// Of the dataset.
  [[nodiscard]] std::uint64_t size() const noexcept { return samples_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// Where in the epoch's order, of all ranks, a position of the order stands, and those behind it
  /// in its batch.
  [[nodiscard]] position in_epoch(position own) const noexcept { return share_.at(own.value); }
  /// Which samples stand at `first` and the places behind it; they are the dataset's, or
  /// @throws usage_error naming the sampler, the position and the sample; what the sampler throws.
  void indices(std::uint64_t epoch, position first, std::span<sample_index> out) const;
  /// As `dataset::wants_prefetch` and `prefetch`.
  [[nodiscard]] bool wants_prefetch() const noexcept { return dataset_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept {
    dataset_->prefetch(samples);
  }
  /// As `dataset::read_in_turn`, of samples that stand behind one another from `first` on, in the
  /// epoch's order; tried again as the error policy says.
  /// @param bad Gets the samples that cannot be read, if the policy does something about them: then
  /// their bytes mean nothing, and all others are read.
  /// @throws dataset_error; any other exception of the dataset's is nested in one that names
  /// samples.
  void read(const epoch_run& run, std::span<const sample_index> samples, position first,
            std::span<const std::span<std::byte>> out, std::vector<unreadable_sample>& bad) const {
    read(run, {seed_, run.epoch, samples, first}, out, bad);
  }
  /// The same, of samples that stand at these positions.
  void read(const epoch_run& run, std::span<const sample_index> samples,
            std::span<const position> positions, std::span<const std::span<std::byte>> out,
            std::vector<unreadable_sample>& bad) const {
    read(run, {seed_, run.epoch, samples, positions}, out, bad);
  }

  /// Reads that failed at first and succeeded when they were tried again. Any thread.
  [[nodiscard]] std::uint64_t recovered_reads() const noexcept { return retries_.recovered(); }
  /// Nothing is tried again any more; whoever pauses wakes. Any thread.
  void stop() noexcept { retries_.stop(); }

 private:
  void read(const epoch_run& run, const read_context& context,
            std::span<const std::span<std::byte>> out, std::vector<unreadable_sample>& bad) const;
  void read_once(const read_context& context, std::span<const std::span<std::byte>> out) const;

  dataset_ptr dataset_;
  feedline::sampler order_;
  std::uint64_t samples_;
  std::uint64_t seed_;
  epoch_share share_;
  mutable read_retries retries_;
};

}  // namespace feedline::detail
