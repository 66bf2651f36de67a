#pragma once

#include <feedline/dataset/batch_sizes.hpp>

#include "reader/sample_source.hpp"
#include "staging/staging_slot.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace feedline::detail {

/// The size of each batch, where batches differ in size: asked for once, although blocks that a
/// device decodes need it before the batch's own ticket. Threads: one at a time.
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
  [[nodiscard]] image_size of(std::uint64_t epoch, std::uint64_t batch);
  /// The sizes of a ticket's batches. Forgets the batches before them, whose blocks were sent.
  /// @throws what `of` throws.
  [[nodiscard]] std::shared_ptr<const ticket_sizes> of_ticket(std::uint64_t epoch,
                                                              std::uint64_t first_batch,
                                                              std::uint64_t batches);

 private:
  batch_sizes_ptr sizes_;
  const sample_source& source_;
  std::uint64_t batch_size_;
  std::uint64_t samples_;
  std::uint64_t epoch_ = 0;                         ///< epoch of the sizes below
  std::map<std::uint64_t, image_size> known_ = {};  ///< keys: numbers of batches
};

}  // namespace feedline::detail
