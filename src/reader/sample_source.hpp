#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace feedline::detail {

/// Where readers get samples: an epoch's order, and the rows. Any number of readers.
class sample_source {
 public:
  sample_source(dataset_ptr dataset, feedline::sampler order)
      : dataset_{std::move(dataset)}, order_{std::move(order)}, samples_{dataset_->size()} {}

  /// Of the dataset.
  [[nodiscard]] std::uint64_t size() const noexcept { return samples_; }
  /// Which samples stand at `first` and the places behind it.
  void indices(std::uint64_t epoch, position first, std::span<sample_index> out) const {
    order_.indices(samples_, epoch, first, out);
  }
  /// As `dataset::wants_prefetch` and `prefetch`.
  [[nodiscard]] bool wants_prefetch() const noexcept { return dataset_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept {
    dataset_->prefetch(samples);
  }
  /// As `dataset::read_in_turn`.
  void read(std::span<const sample_index> samples, std::span<const std::span<std::byte>> out) {
    dataset_->read_in_turn(samples, out);
  }

 private:
  dataset_ptr dataset_;
  feedline::sampler order_;
  std::uint64_t samples_;
};

}  // namespace feedline::detail
