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

/// Consecutive elements of one sample, and their destination.
struct element_run {
  sample_index sample;
  std::uint64_t first = 0;  ///< index of the first element within the sample
  /// Destination of out.size() / (size of an element) elements, all of them within the sample.
  std::span<std::byte> out;
};

/// A numbered collection of samples with varying numbers of elements: tokens of a text, boxes of an
/// image, frames of a recording.
///
/// Batches have samples of one size, so `pad` or `pack` converts a ragged dataset to a dataset.
/// Both read elements directly to their destination, and no more than they use, so a single sample
/// need not fit in memory. Derive from it to feed your own data:
///
///     class countdowns : public feedline::ragged_dataset {
///      public:
///       std::uint64_t size() const override { return 1000; }
///       field element() const override { return {"count", element_type::u8, {}}; }
///       std::uint64_t length(sample_index sample) const override { return sample.value % 100; }
///
///      private:
///       void do_read(std::span<const element_run> runs) const override {
///         for (const element_run& run : runs)
///           for (std::size_t i = 0; i < run.out.size(); ++i)
///             run.out[i] = static_cast<std::byte>(length(run.sample) - run.first - i);
///       }
///     };
///
/// Threads: same as `dataset`; any thread may call `length`, several at once.
class ragged_dataset {
 public:
  ragged_dataset() = default;
  ragged_dataset(const ragged_dataset&) = delete;
  ragged_dataset& operator=(const ragged_dataset&) = delete;
  virtual ~ragged_dataset() = default;

  /// Number of samples; constant for the dataset's life.
  [[nodiscard]] virtual std::uint64_t size() const = 0;

  /// One element: name, type and shape ({4} for a box; empty for a token).
  [[nodiscard]] virtual field element() const = 0;

  /// Number of elements of a sample, may be 0. Known without reading the sample; constant for the
  /// dataset's life.
  /// @param sample Less than `size()`.
  [[nodiscard]] virtual std::uint64_t length(sample_index sample) const = 0;

  /// Reads elements directly to the destination of each run. Any thread; blocks like
  /// `dataset::read`.
  /// @throws dataset_error naming the sample that could not be read; any other exception of
  /// `do_read`.
  void read(std::span<const element_run> runs) const {
    const auto turn = turns_.take(*this);
    do_read(runs);
  }

  /// Same as `dataset::wants_prefetch` and `dataset::prefetch`.
  [[nodiscard]] virtual bool wants_prefetch() const noexcept { return false; }
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }
  /// Same as `dataset::hints_ranges`.
  [[nodiscard]] virtual bool hints_ranges() const noexcept { return false; }

  /// Same as `dataset::concurrency`.
  [[nodiscard]] virtual read_concurrency concurrency() const { return read_concurrency::parallel; }

  /// Same as `dataset::reads_in_processes`.
  [[nodiscard]] virtual unsigned reads_in_processes() const { return 0; }

 private:
  /// Override this function to give your own elements; `read` calls it. Write every byte of each
  /// run's `out`.
  /// @throws dataset_error naming the sample that could not be read.
  virtual void do_read(std::span<const element_run> runs) const = 0;

  read_turns turns_;
};

/// Shared ownership of an immutable ragged dataset.
using ragged_dataset_ptr = std::shared_ptr<const ragged_dataset>;

/// A ragged dataset whose sample i is rows [offsets[i], offsets[i + 1]) of `values`. Both may be of
/// any format:
///
///     auto boxes = feedline::make_ragged_dataset(feedline::open_npy("boxes.npy", "box"),
///                                                feedline::open_npy("offsets.npy", "offset"));
///
/// @param values  One field: an element a row. Rows in memory are copied from there. Others are
/// read up to 8192 rows or 256 KiB at a time, in at most 448 KiB of memory a thread. If they are
/// stored in compressed chunks, pass `load_into_memory(values)`: otherwise each sample read in
/// random order decodes a whole chunk.
/// @param offsets One field, which has one whole number of any type in each row, and one row more
/// than there are samples. The first offset is 0, the last is the number of values, and none is
/// less than the one before it. All are read and checked now. They take 8 bytes of memory a sample,
/// or nothing if they are 64-bit values in memory already.
/// @throws usage_error if either is null, varies by epoch, has several fields, or the offsets are
/// not whole numbers; dataset_error naming the first wrong offset; exceptions of reading the
/// offsets.
[[nodiscard]] ragged_dataset_ptr make_ragged_dataset(dataset_ptr values, dataset_ptr offsets);

/// Same, from arrays in memory: `make_ragged_dataset(own("token", …), borrow("offset", …))`.
/// @throws also the exceptions of `make_memory_dataset`.
[[nodiscard]] ragged_dataset_ptr make_ragged_dataset(memory_field values, memory_field offsets);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
