#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device_ptr.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/export.hpp>
#include <feedline/loader/epoch_range.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/loader/loader_state.hpp>
#include <feedline/sampler/sampler.hpp>
#include <feedline/statistics/statistics.hpp>
#include <feedline/statistics/trace.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Feeds one consumer: reads batches of a dataset ahead, in a sampler's order, into memory that its
/// device can use.
///
///     feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 256}};
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (feedline::batch& batch : loader.epoch(epoch, feedline::stream_ref{compute_stream}))
///         step(batch["image"].data<std::uint8_t>(), batch.size(), compute_stream);
///
/// A loader owns its threads (readers and one for the transfer) and all sample memory, allocated
/// once. Its destructor stops the threads. It waits for a read and a copy that are in progress, but
/// gives up on a read that takes longer than `expert_options::leave_reads_after`. Batches that are
/// still held stay valid.
///
/// Threads: all functions are for the consumer's thread, except `stop`, `statistics` and `trace`,
/// which any thread may call. In a child of fork a loader may only be destroyed; its memory stays
/// until the child ends.
///
/// A loader that was moved from may be destroyed, assigned to and stopped; everything else throws
/// usage_error.
class loader {
 public:
  /// @throws usage_error if the options cannot be met, before any thread starts or memory is
  /// allocated; out_of_memory and device_error from the device; thread_error if a thread cannot be
  /// started; exceptions of the dataset's `size` and `fields`.
  loader(dataset_ptr dataset, sampler sampler, device_ptr device, loader_options options);

  loader(loader&&) noexcept = default;
  loader& operator=(loader&& other) noexcept;
  loader(const loader&) = delete;
  loader& operator=(const loader&) = delete;
  ~loader();

  /// The batches of one epoch, to be consumed on `stream`. Reading ahead begins now, if it has not
  /// begun yet.
  ///
  /// Epochs are consumed in the order of the calls. The next epoch may be requested while the
  /// current one is consumed. Beginning it abandons the rest of the earlier epochs.
  /// @param number The epoch's number, from 0, of any integer type; other types do not compile.
  /// @throws usage_error if the number is negative or differs from the one given to `seek`, the
  /// device cannot use the stream, or in a child of fork.
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) [[nodiscard]] epoch_range
      epoch(Number number, stream_ref stream = {}) & {
    if (std::cmp_less(number, 0)) refuse_epoch(static_cast<std::int64_t>(number));
    return take_epoch(static_cast<std::uint64_t>(number), stream);
  }
  template <std::integral Number>
  epoch_range epoch(Number number, stream_ref stream = {}) && = delete;

  /// Returns the current position of training, for `seek`: after the last batch that was taken. So
  /// in the body of a loop, the loop's batch counts as done, and so do all batches that are held.
  /// Batches read ahead but not taken do not count, nor do epochs that were only requested.
  ///     before the first batch        beginning of the first requested epoch, or of epoch 0
  ///     an epoch was left by `break`  after the last batch taken, until another epoch begins
  ///     its last batch was taken      the end of that epoch
  ///     its range has ended           the next epoch, batch 0
  ///     after an error                the batch that failed
  ///
  /// The first call of `state` or `seek` asks the sampler for 128 positions. Each call copies some
  /// strings. @throws usage_error in a child of fork; exceptions of the sampler.
  [[nodiscard]] loader_state state() const;

  /// A hash of everything that the ranks of a training run must have in common: the dataset's size
  /// and fields, the order, batch size, world, `partial_batch`, transforms and their seed, and the
  /// policy for samples that cannot be read. Ranks with different digests would train on different
  /// global batches. Compare the digests before the first batch, with the same communication
  /// library that sums the gradients. All builds of one version of feedline give the same number;
  /// other versions may give a different one.
  ///
  /// The first call may ask the sampler for positions, like that of `state`. Never blocks.
  /// @throws usage_error in a child of fork; exceptions of the sampler.
  [[nodiscard]] std::uint64_t order_digest() const;

  /// Continues from a state taken by this loader, or by another one with the same dataset, order
  /// and options. The next epoch requested must be `state.epoch`; it begins with batch
  /// `state.batch`. This batch and all later ones, in this and all later epochs, are bitwise equal
  /// to those of the first run. Readers, ring sizes, placement, device, rank and world may differ.
  ///
  ///     loader.seek(state);
  ///     for (auto epoch = state.epoch; epoch < 10; ++epoch)
  ///       for (feedline::batch& batch : loader.epoch(epoch, stream)) step(batch);
  ///
  /// After a stage_error the loader can continue: seek to a position after the failed batch, or
  /// to that batch to try it again. Until then every step throws the error again.
  ///
  ///     loader_state state = loader.state();  // the batch that failed
  ///     ++state.batch;
  ///     loader.seek(state);
  ///
  /// Takes the same time for every state, and reads nothing again. Ranges requested earlier are
  /// abandoned: their next step throws usage_error, unless they have ended. Batches stay valid.
  /// Does not block.
  /// @throws usage_error, without changing anything, if the state is from a loader with a different
  /// dataset size, fields, order, global batch, `partial_batch`, `seed` or transforms; if its batch
  /// is after the epoch's end; if its counts of unreadable samples are impossible; if delivery has
  /// ended because the device or memory failed; in a child of fork; exceptions of the sampler.
  void seek(const loader_state& state);

  /// Samples of the batches taken so far that could not be read, and how `loader_options::errors`
  /// handled them. After an epoch's end this includes samples of a last batch that was cut off.
  /// Empty with `error_action::fail`: the stage_error names the sample.
  /// @throws usage_error in a child of fork.
  [[nodiscard]] failure_report failures() const;

  /// Work done by the loader so far, and the time spent in its stages. Always measured. Any thread
  /// may call it at any time, except while the loader is created, moved or destroyed. Takes some
  /// microseconds, and none of the locks that the stages use.
  ///
  ///     const auto before = loader.statistics();
  ///     for (feedline::batch& batch : loader.epoch(epoch, stream)) step(batch);
  ///     std::cout << feedline::report(loader.statistics().since(before));
  ///
  /// @throws usage_error in a child of fork.
  [[nodiscard]] loader_statistics statistics() const;

  /// Activities of the loader's threads and streams with their times: the newest `trace_events` of
  /// each. `write_trace_page` and similar functions make files of it. Activities still in progress
  /// are not included yet. Any thread may call it; does not block.
  /// @throws usage_error if `expert_options::trace_events` is 0, and in a child of fork.
  [[nodiscard]] feedline::trace trace() const;

  /// Ends all reading ahead: every range ends at its next step, and every later one is empty. Does
  /// not block.
  void stop() noexcept;

  /// Stops, and waits until the loader's threads have ended, but no longer than `limit`; 0 does not
  /// wait. Can be called again. From then on destruction does not wait: threads that are still in a
  /// read are left to end by themselves, and keep the dataset, the device and the memory until
  /// then, as after `expert_options::leave_reads_after`. For programs whose reads may wait for
  /// something that never comes. Any thread, while no other one uses the loader's epochs.
  /// @return Whether all threads have ended. True in a child of fork.
  bool end_within(std::chrono::milliseconds limit) noexcept;

  /// Sizes, depths and totals chosen at construction.
  [[nodiscard]] const loader_plan& plan() const;

  /// Bytes that this epoch and the next ones download from other machines, with the cache as it is
  /// now and with larger ones. Nothing is known of samples that are on this machine, and of
  /// datasets whose order or ranges cannot be computed ahead. Takes as long as looking at each
  /// sample of three epochs, without reading any: some seconds for 10 million samples. Any thread;
  /// training continues.
  /// @throws usage_error in a child of fork.
  [[nodiscard]] download_plan plan_downloads() const;

 private:
  [[nodiscard]] epoch_range take_epoch(std::uint64_t number, stream_ref stream);
  [[noreturn]] static void refuse_epoch(std::int64_t number);
  [[nodiscard]] detail::pipeline& held() const;
  void shut_down() noexcept;

  std::shared_ptr<detail::pipeline> pipeline_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
