#pragma once

#include <feedline/dataset/batch_sizes.hpp>
#include <feedline/dataset/chunking.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/dataset/read_concurrency.hpp>
#include <feedline/dataset/read_request.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A numbered collection of samples that can be read in any order, directly into a batch's memory.
///
/// Derive from it to feed your own data: three functions, no object for each sample, no collate
/// copy.
///
///     class squares : public feedline::dataset {
///      public:
///       std::uint64_t size() const override { return 1000; }
///       std::vector<field> fields() const override { return {{"x", element_type::u32, {}}}; }
///
///      private:
///       void do_read(const read_request& request) const override {
///         for (std::size_t i = 0; i < request.samples.size(); ++i) {
///           const std::uint64_t sample = request.samples[i].value;
///           const auto x = static_cast<std::uint32_t>(sample * sample);
///           std::memcpy(request.out[0].data() + i * sizeof x, &x, sizeof x);
///         }
///       }
///     };
///
/// A dataset for random augmentation on the CPU also overrides `varies_by_epoch`, and takes its
/// random numbers from `request.context[i].random()`.
///
/// Threads: the thread that creates a loader calls `size`, `fields` and `rows`. Reader threads call
/// `read`, several at once. If `concurrency()` says serialized, one thread at a time is in
/// `do_read`, however many loaders and composed datasets use the dataset. A dataset must not change
/// while a loader reads it.
class dataset {
 public:
  dataset() = default;
  dataset(const dataset&) = delete;
  dataset& operator=(const dataset&) = delete;
  virtual ~dataset() = default;

  /// Number of samples; constant for the dataset's life.
  [[nodiscard]] virtual std::uint64_t size() const = 0;

  /// Fields of each sample; at least one, names distinct; constant for the dataset's life.
  [[nodiscard]] virtual std::vector<field> fields() const = 0;

  /// Reads samples directly to their destination. Loaders and composed datasets call this function.
  /// Any thread. Blocks until the samples are read; if `concurrency()` says serialized, it waits
  /// for its turn first.
  /// @throws dataset_error naming the sample that could not be read; any other exception of
  /// `do_read`. The destination's content is then unspecified.
  void read(const read_request& request) const {
    const auto turn = turns_.take(*this);
    do_read(request);
  }
  /// Reads outside of a loader, so the context has no epoch. Parameters: see `read_request`.
  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const {
    read({samples, out, read_context{samples}});
  }

  /// Whether a sample differs between epochs, because of random augmentation on the CPU. Constant
  /// for the dataset's life. Such samples cannot be cached (`load_into_memory`, the placements
  /// gather, resident and cached). A composed dataset returns true if one of its parts does.
  [[nodiscard]] virtual bool varies_by_epoch() const { return false; }

  /// The samples in memory, for datasets that have them there. For each field, in `fields()` order:
  /// `size() × sample_bytes(field)` bytes, sample after sample, with the values that `read` gives.
  /// They are valid and unchanged for the dataset's life. Empty if the samples are not in memory. A
  /// loader may copy samples from there instead of calling `read`. Called by the thread that
  /// creates a loader.
  [[nodiscard]] virtual std::vector<std::span<const std::byte>> rows() const { return {}; }

  /// A dataset with the same samples but only some of the fields, if the dataset can skip reading
  /// the others; `feedline::select` calls this. Null: it cannot, so `select` reads all fields and
  /// drops the others.
  /// @param places Indices into `fields()`, in the wanted order; at least one, no duplicates.
  [[nodiscard]] virtual std::shared_ptr<const dataset> select(
      std::span<const std::size_t> places) const {
    (void)places;
    return nullptr;
  }

  /// Storage of the samples in chunks, which `shuffle{.within = …}` can follow. Called by the
  /// thread that creates a loader.
  [[nodiscard]] virtual chunking chunks() const { return {}; }

  /// The samples in blocks as stored, for devices that decode them (`loader_options::decode_on`);
  /// valid for the dataset's life. Null: they are not stored in such blocks. Called by the
  /// thread that creates a loader.
  [[nodiscard]] virtual std::shared_ptr<const encoded_blocks> encoded() const { return nullptr; }

  /// Height and width of the images of each batch, for fields that have `field::by_batch`; valid
  /// for the dataset's life. Null: no field has it. Such a dataset returns true from
  /// `varies_by_epoch`. Called by the thread that creates a loader.
  [[nodiscard]] virtual batch_sizes_ptr sizes() const { return nullptr; }

  /// Whether `prefetch` would help now, because the samples are on a disk and not in memory yet.
  /// Reader threads call it repeatedly; it must be cheap.
  [[nodiscard]] virtual bool wants_prefetch() const noexcept { return false; }

  /// Hints that these samples will be read soon, so that their bytes can be fetched. Returns
  /// without waiting for them. A hint that cannot be followed is dropped; faults in a sample are
  /// reported when it is read. Called by reader threads, several at once, some slots ahead of
  /// `read`.
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }

  /// Whether `prefetch` only hints ranges of feedline's own files. Then a loader may call it for
  /// samples of later epochs, to learn which ranges these are made of: hints are recorded then, and
  /// nothing is fetched. Constant for the dataset's life. A composed dataset returns true
  /// if all of its parts that want hints do.
  [[nodiscard]] virtual bool hints_ranges() const noexcept { return false; }

  /// Whether several threads may be in `do_read` at once; constant for the dataset's life. Any
  /// thread. A composed dataset is serialized if one of its parts is.
  [[nodiscard]] virtual read_concurrency concurrency() const { return read_concurrency::parallel; }

  /// Number of reads that other processes serve at once, so that a reader thread that waits for one
  /// uses no CPU; constant for the dataset's life. An automatic number of readers is this number. 0
  /// by default: reader threads do the work. A composed dataset returns the largest of its parts.
  [[nodiscard]] virtual unsigned reads_in_processes() const { return 0; }

 private:
  /// Override this function to give your own samples. `read` calls it, and nothing else does.
  ///
  /// Write every byte of `request.out`. A dataset that reads another one calls the other's `read`,
  /// which waits for the other's turn, and passes `request.context` on.
  /// @throws dataset_error naming the sample that could not be read. A loader nests any other
  /// exception in a dataset_error that names the samples of the request.
  virtual void do_read(const read_request& request) const = 0;

  read_turns turns_;
};

/// Shared ownership of an immutable dataset.
using dataset_ptr = std::shared_ptr<const dataset>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
