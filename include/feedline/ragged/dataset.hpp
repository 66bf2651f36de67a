#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/read_concurrency.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Consecutive elements of one sample, and where they are wanted.
struct element_run {
  sample_index sample;
  std::uint64_t first = 0;   ///< which of the sample's elements
  std::span<std::byte> out;  ///< a whole number of elements, all of which the sample has
};

/// A numbered collection of samples of which each has a number of elements of its own: tokens of a
/// text, boxes of an image, frames of a recording.
///
/// Batches have samples of one size, so that a ragged dataset becomes a dataset by `pad` or `pack`.
/// Both ask for elements where they are to lie and for no more than they keep, so no sample need
/// fit in memory. Derive from it to feed data of your own:
///
///     class countdowns : public feedline::ragged_dataset {
///      public:
///       std::uint64_t size() const override { return 1000; }
///       field element() const override { return {"count", element_type::u8, {}}; }
///       std::uint64_t length(sample_index sample) const override { return sample.value % 100; }
///       void read(std::span<const element_run> runs) const override {
///         for (const element_run& run : runs)
///           for (std::size_t i = 0; i < run.out.size(); ++i)
///             run.out[i] = static_cast<std::byte>(length(run.sample) - run.first - i);
///       }
///     };
///
/// Threads: as `dataset`; `length` may be called on any thread, by several at once.
class ragged_dataset {
 public:
  ragged_dataset() = default;
  ragged_dataset(const ragged_dataset&) = delete;
  ragged_dataset& operator=(const ragged_dataset&) = delete;
  virtual ~ragged_dataset() = default;

  /// Number of samples; constant for the dataset's life.
  [[nodiscard]] virtual std::uint64_t size() const = 0;

  /// One element: name, type and the shape that it has within (of a box: {4}; of a token: none).
  [[nodiscard]] virtual field element() const = 0;

  /// How many elements a sample has, perhaps none; known at once, constant for the dataset's life.
  /// @param sample Less than `size()`.
  [[nodiscard]] virtual std::uint64_t length(sample_index sample) const = 0;

  /// Reads elements to where each run wants them. Every byte of each `out` must be written.
  /// @throws dataset_error naming the sample that could not be read.
  virtual void read(std::span<const element_run> runs) const = 0;

  /// As `read`, in the dataset's turn where it is serialized, as `dataset::read_in_turn`.
  void read_in_turn(std::span<const element_run> runs) const {
    const auto turn = turns_.take(*this);
    read(runs);
  }

  /// As `dataset::wants_prefetch` and `dataset::prefetch`.
  [[nodiscard]] virtual bool wants_prefetch() const noexcept { return false; }
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }

  /// As `dataset::concurrency`.
  [[nodiscard]] virtual read_concurrency concurrency() const { return read_concurrency::parallel; }

 private:
  read_turns turns_;
};

/// How ragged datasets are handed about: shared, immutable.
using ragged_dataset_ptr = std::shared_ptr<const ragged_dataset>;

/// Sample i is rows [offsets[i], offsets[i + 1]) of `values`. Any format serves for either:
///
///     auto boxes = feedline::make_ragged_dataset(feedline::open_npy("boxes.npy", "box"),
///                                                feedline::open_npy("offsets.npy", "offset"));
///
/// @param values  One field: an element a row. Rows in memory are copied from there; others are
///                read up to 8192 rows or 256 KiB at a time, in at most 448 KiB of memory a thread.
///                If they are stored in compressed chunks, give `load_into_memory(values)`, or
///                samples in random order decode a chunk each.
/// @param offsets One field, a whole number of any type a row: one row more than there are samples,
///                from 0 to the number of values, never falling. All are read and checked now; 8
///                bytes a sample stay in memory (none where 64-bit offsets lie in memory already).
/// @throws usage_error if either is null, varies by epoch, has several fields, or the offsets are
/// no whole numbers;
///         dataset_error naming the first offset that is wrong; what reading the offsets throws.
[[nodiscard]] ragged_dataset_ptr make_ragged_dataset(dataset_ptr values, dataset_ptr offsets);

/// The same from arrays in memory: `make_ragged_dataset(own("token", …), borrow("offset", …))`.
/// @throws also what `make_memory_dataset` throws.
[[nodiscard]] ragged_dataset_ptr make_ragged_dataset(memory_field values, memory_field offsets);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
