#pragma once

#include <feedline/dataset/chunking.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/dataset/read_concurrency.hpp>
#include <feedline/dataset/read_context.hpp>
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
///       void read(std::span<const sample_index> samples,
///                 std::span<const std::span<std::byte>> out) const override {
///         for (std::size_t i = 0; i < samples.size(); ++i) {
///           const auto x = static_cast<std::uint32_t>(samples[i].value * samples[i].value);
///           std::memcpy(out[0].data() + i * sizeof x, &x, sizeof x);
///         }
///       }
///     };
///
/// Threads: the thread that creates a loader calls `size`, `fields` and `rows`. Reader threads call
/// `read`, several at once unless `concurrency()` says serialized. A serialized dataset is read by
/// one thread at a time, however many loaders and composed datasets use it. A dataset must not
/// change while a loader reads it.
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

  /// Reads a run of samples.
  ///
  /// @param samples Indices of the samples, in the wanted order; each less than `size()`; may
  /// repeat; may be empty.
  /// @param out For each field, in `fields()` order, `samples.size() × sample_bytes(field)` bytes.
  /// The value of `samples[i]` goes to row i. Every byte must be written.
  /// @throws dataset_error naming the sample that could not be read. A loader nests any other
  /// exception in a dataset_error that names the samples of the run.
  virtual void read(std::span<const sample_index> samples,
                    std::span<const std::span<std::byte>> out) const = 0;

  /// Same as `read`, with a context: seed, epoch, each sample's number and position in the loader's
  /// order, and random numbers that depend on these alone. A dataset whose samples depend on the
  /// epoch overrides it, returns true from `varies_by_epoch`, and lets `read(samples, out)` call it
  /// with `read_context{samples}`, which has no epoch.
  /// @param context Has one entry for each element of `samples`: the loader's sample for which it
  /// is read.
  virtual void read_for(std::span<const sample_index> samples,
                        std::span<const std::span<std::byte>> out,
                        const read_context& context) const {
    (void)context;
    read(samples, out);
  }

  /// Whether a sample differs between epochs, because of random augmentation on the CPU. Constant
  /// for the dataset's life. Such samples cannot be cached (`load_into_memory`, the placements
  /// gather, resident and cached). A composed dataset returns true if one of its parts does.
  [[nodiscard]] virtual bool varies_by_epoch() const { return false; }

  /// Same as `read_for`, but waits for the dataset's turn if `concurrency()` says serialized.
  /// Loaders and composed datasets call this function. A dataset of yours that reads another one
  /// should also call it, because `read` itself does not wait, and should pass on the context it
  /// was given. Any thread; blocks until no other thread reads a serialized dataset.
  void read_in_turn(std::span<const sample_index> samples,
                    std::span<const std::span<std::byte>> out, const read_context& context) const {
    const auto turn = turns_.take(*this);
    read_for(samples, out, context);
  }
  /// Reads outside of a loader, without an epoch.
  void read_in_turn(std::span<const sample_index> samples,
                    std::span<const std::span<std::byte>> out) const {
    read_in_turn(samples, out, read_context{samples});
  }

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
  /// valid for the dataset's life. Null: they are not stored in such blocks. Called by the thread
  /// that creates a loader.
  [[nodiscard]] virtual std::shared_ptr<const encoded_blocks> encoded() const { return nullptr; }

  /// Whether `prefetch` would help now, because the samples are on a disk and not in memory yet.
  /// Reader threads call it repeatedly; it must be cheap.
  [[nodiscard]] virtual bool wants_prefetch() const noexcept { return false; }

  /// Hints that these samples will be read soon, so that their bytes can be fetched. Returns
  /// without waiting for them. A hint that cannot be followed is dropped; faults in a sample are
  /// reported when it is read. Called by reader threads, several at once, some slots ahead of
  /// `read`.
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }

  /// Whether several threads may call `read` at once; constant for the dataset's life. Any thread.
  /// A composed dataset is serialized if one of its parts is.
  [[nodiscard]] virtual read_concurrency concurrency() const { return read_concurrency::parallel; }

 private:
  read_turns turns_;
};

/// Shared ownership of an immutable dataset.
using dataset_ptr = std::shared_ptr<const dataset>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
