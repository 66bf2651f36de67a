#pragma once

#include <feedline/dataset/batch_sizes.hpp>

#include "reader/sample_source.hpp"
#include "staging/staging_slot.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace feedline::detail {

/// Computes the size of each batch of a ticket, once, where a dataset's images differ in size from
/// batch to batch. Threads: the slot scheduler's.
class batch_sizer {
 public:
  /// Borrows the source for its life.
  /// @param sizes Not null. @param samples_per_epoch This rank's.
  batch_sizer(const sample_source& source, batch_sizes_ptr sizes, std::uint64_t batch_size,
              std::uint64_t samples_per_epoch)
      : source_{&source},
        sizes_{std::move(sizes)},
        batch_size_{batch_size},
        samples_per_epoch_{samples_per_epoch} {}

  /// @return Not null.
  /// @throws usage_error if a size is 0 or above the largest; what the dataset's function throws.
  [[nodiscard]] std::shared_ptr<const ticket_sizes> of(const epoch_pass& pass,
                                                       std::uint64_t first_batch,
                                                       std::uint64_t batches) const;

 private:
  [[nodiscard]] image_size of_batch(std::uint64_t epoch, std::uint64_t batch) const;

  const sample_source* source_;
  batch_sizes_ptr sizes_;
  std::uint64_t batch_size_;
  std::uint64_t samples_per_epoch_;
};

}  // namespace feedline::detail
