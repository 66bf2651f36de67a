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

/// A numbered collection of samples that can be read in any order, straight into a batch's memory.
///
/// Derive from it to feed data of your own: three functions, no per-sample object, no collate copy.
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
/// Threads: `size`, `fields` and `rows` are called by the thread that makes a loader; `read` by
/// reader threads, by several at once unless `concurrency()` says serialized: then by one at a
/// time, however many loaders and compositions read it. A dataset must not change while a loader
/// reads it.
class dataset {
 public:
  dataset() = default;
  dataset(const dataset&) = delete;
  dataset& operator=(const dataset&) = delete;
  virtual ~dataset() = default;

  /// Number of samples; constant for the dataset's life.
  [[nodiscard]] virtual std::uint64_t size() const = 0;

  /// What each sample holds; at least one field, names distinct; constant for the dataset's life.
  [[nodiscard]] virtual std::vector<field> fields() const = 0;

  /// Reads a run of samples.
  ///
  /// @param samples Which samples, in the order wanted; each less than `size()`; may repeat; may be
  /// empty.
  /// @param out For each field, in `fields()` order, `samples.size() × sample_bytes(field)` bytes:
  /// the value of `samples[i]` goes to the i-th place. Every byte must be written.
  /// @throws dataset_error naming the sample that could not be read. A loader nests any other
  /// exception in a dataset_error that names the samples of the run.
  virtual void read(std::span<const sample_index> samples,
                    std::span<const std::span<std::byte>> out) const = 0;

  /// As `read`, by datasets that want to know what for: seed, epoch, each sample's number and
  /// position in the loader's order, and random numbers that hang on these alone. A dataset whose
  /// samples depend on the epoch overrides it, has `varies_by_epoch` say so, and has `read(samples,
  /// out)` call it with `read_context{samples}`, which has no epoch.
  /// @param context As long as `samples`: place by place, which sample of the loader's it is read
  /// for.
  virtual void read_for(std::span<const sample_index> samples,
                        std::span<const std::span<std::byte>> out,
                        const read_context& context) const {
    (void)context;
    read(samples, out);
  }

  /// Whether samples differ between epochs, as far as what they are read for: random augmentation
  /// on the CPU. Constant for the dataset's life. They cannot be held then (`load_into_memory`, the
  /// placements gather, resident and cached). A dataset made of others says what they say.
  [[nodiscard]] virtual bool varies_by_epoch() const { return false; }

  /// As `read_for`, in the dataset's turn where `concurrency()` says serialized: what everybody
  /// calls who reads a dataset, loaders and datasets made of others. A dataset of yours that reads
  /// another one calls it too, for `read` itself waits for nobody, and passes on the context it was
  /// given. Any thread; blocks until no other thread reads.
  void read_in_turn(std::span<const sample_index> samples,
                    std::span<const std::span<std::byte>> out, const read_context& context) const {
    const auto turn = turns_.take(*this);
    read_for(samples, out, context);
  }
  /// Outside of a loader: there is no epoch.
  void read_in_turn(std::span<const sample_index> samples,
                    std::span<const std::span<std::byte>> out) const {
    read_in_turn(samples, out, read_context{samples});
  }

  /// The samples where they lie in memory, for datasets that have them there: for each field, in
  /// `fields()` order, `size() × sample_bytes(field)` bytes, sample after sample, with the values
  /// that `read` would give, valid and unchanged for the dataset's life. Empty: they lie nowhere.
  /// A loader may copy samples from there, and `read` is not called for them. Called by the thread
  /// that makes a loader.
  [[nodiscard]] virtual std::vector<std::span<const std::byte>> rows() const { return {}; }

  /// The same samples with some of their fields alone, where the dataset can leave the others
  /// unread: what `feedline::select` asks for. Null: it cannot, so all are read, and what is not
  /// wanted is dropped.
  /// @param places Of `fields()`, in the order wanted; at least one, none twice.
  [[nodiscard]] virtual std::shared_ptr<const dataset> select(
      std::span<const std::size_t> places) const {
    (void)places;
    return nullptr;
  }

  /// How samples lie together where they are stored, which `shuffle{.within = …}` can follow.
  /// Called by the thread that makes a loader.
  [[nodiscard]] virtual chunking chunks() const { return {}; }

  /// The samples in blocks as they are stored, for devices that decode them
  /// (`loader_options::decode_on`); valid for the dataset's life. Null: they are not stored so.
  /// Called by the thread that makes a loader.
  [[nodiscard]] virtual std::shared_ptr<const encoded_blocks> encoded() const { return nullptr; }

  /// Whether `prefetch` would be of use now: the samples lie on a disk and are not in memory yet.
  /// Asked again and again, by reader threads; cheap.
  [[nodiscard]] virtual bool wants_prefetch() const noexcept { return false; }

  /// Says that these samples will be read soon, so that their bytes can be on their way. Returns
  /// without waiting for them; a hint that cannot be followed is dropped, and what is wrong with a
  /// sample is told when it is read. Reader threads, several at once, some slots ahead of `read`.
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }

  /// Whether several threads may call `read` at once; constant for the dataset's life. Any thread.
  /// A dataset made of others says what they say.
  [[nodiscard]] virtual read_concurrency concurrency() const { return read_concurrency::parallel; }

 private:
  read_turns turns_;
};

/// How datasets are handed about: shared, immutable.
using dataset_ptr = std::shared_ptr<const dataset>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
