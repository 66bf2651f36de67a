#pragma once

#include <feedline/dataset/batch_sizes.hpp>

#include "reader/sample_source.hpp"

#include <cstdint>
#include <utility>

namespace feedline::detail {

/// Asks for the size of each batch, where batches differ in size. Threads: one at a time.
class batch_sizer {
 public:
  /// Borrows the source for its life.
  batch_sizer(batch_sizes_ptr sizes, const sample_source& source, std::uint64_t batch_size,
              std::uint64_t samples_per_epoch)
      : sizes_{std::move(sizes)},
        source_{source},
        batch_size_{batch_size},
        samples_{samples_per_epoch} {}

  [[nodiscard]] std::uint64_t batch_size() const noexcept { return batch_size_; }
  [[nodiscard]] image_size largest() const { return sizes_->largest(); }
  /// The size of a batch, by its number within this rank's epoch. The largest if its samples are
  /// needed and the sampler fails: readers ask for them too, and their batch then fails in its
  /// turn.
  /// @throws usage_error if a size is 0 or above the largest; what the dataset's function throws.
  [[nodiscard]] image_size of(std::uint64_t epoch, std::uint64_t batch) const;

 private:
  batch_sizes_ptr sizes_;
  const sample_source& source_;
  std::uint64_t batch_size_;
  std::uint64_t samples_;
};

}  // namespace feedline::detail
