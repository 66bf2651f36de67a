#pragma once

#include <feedline/dataset/image_size.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A batch whose size is asked for.
struct sized_batch {
  std::uint64_t seed = 0;  ///< `loader_options::seed`
  std::uint64_t epoch = 0;
  /// Number of the batch within the epoch. Ranks give the same number to batches that they train on
  /// at the same time.
  std::uint64_t number = 0;
  /// The samples of the batch, in order. Empty unless `batch_sizes::depends_on_samples`.
  std::span<const sample_index> samples = {};
};

/// The height and width of a dataset's images in each batch, where they differ from batch to batch
/// (`field::by_batch`).
///
/// A loader asks once for each batch, before it reads the batch's samples, and passes the answer on
/// to all readers (`read_context::size`). Slots have room for batches of the largest size.
///
/// Threads: reader threads, one at a time for each loader. The answer must depend on the arguments
/// alone, so that it is the same after resuming.
class batch_sizes {
 public:
  batch_sizes() = default;
  batch_sizes(const batch_sizes&) = delete;
  batch_sizes& operator=(const batch_sizes&) = delete;
  virtual ~batch_sizes() = default;

  /// The largest height and the largest width of all batches: those in the shapes of the fields.
  [[nodiscard]] virtual image_size largest() const = 0;
  /// Whether the size follows from the batch's samples. If so, a loader asks its sampler for them
  /// once more.
  [[nodiscard]] virtual bool depends_on_samples() const = 0;
  /// The size of a batch: neither 0 nor above `largest()`. Must not wait.
  [[nodiscard]] virtual image_size of(const sized_batch& batch) const = 0;
  /// Whether another object gives every batch the same size. `zip` asks, because a batch has one
  /// size. By default only the object itself does.
  [[nodiscard]] virtual bool equals(const batch_sizes& other) const { return this == &other; }
};

using batch_sizes_ptr = std::shared_ptr<const batch_sizes>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
