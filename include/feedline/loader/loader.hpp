#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/export.hpp>
#include <feedline/loader/epoch_range.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/loader/loader_state.hpp>
#include <feedline/sampler/sampler.hpp>
#include <feedline/statistics/statistics.hpp>
#include <feedline/statistics/trace.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Feeds one consumer: reads batches of a dataset ahead, in a sampler's order, into memory its
/// device can use.
///
///     feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 256}};
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (feedline::batch& batch : loader.epoch(epoch, feedline::stream_ref{compute_stream}))
///         step(batch["image"].data<std::uint8_t>(), batch.size(), compute_stream);
///
/// Owns its threads (readers and one for the transfer) and all sample memory, allocated once.
/// Destroying it stops them, waiting for a read and a copy that are under way, or leaving behind a
/// read that takes longer than `expert_options::leave_reads_after`; batches still held stay valid.
///
/// Threads: all functions belong to the consumer's thread, but for `stop`, `statistics` and
/// `trace`, which any thread may call. In a child of fork a loader may only be destroyed; its
/// memory stays until the child ends.
///
/// A loader that was moved from may be destroyed, assigned to and stopped; all else throws
/// usage_error.
class loader {
 public:
  /// @throws usage_error if the options cannot be met, before any thread starts or memory is
  /// allocated; out_of_memory and device_error from the device; thread_error if a thread cannot be
  /// started; what the dataset's `size` and `fields` throw.
  loader(dataset_ptr dataset, sampler sampler, device_ptr device, loader_options options);

  loader(loader&&) noexcept = default;
  loader& operator=(loader&& other) noexcept;
  loader(const loader&) = delete;
  loader& operator=(const loader&) = delete;
  ~loader();

  /// The batches of one epoch, to be consumed on `stream`. Reading ahead begins now, at the latest.
  ///
  /// Epochs are consumed in the order in which they were asked for: a next one may be asked for
  /// while the current one is consumed; beginning it abandons what is left of those before.
  /// @param number Of the epoch, from 0, as an integer of any type; what is no integer does not
  /// compile.
  /// @throws usage_error if the number is negative or not the one that `seek` went to, the device
  /// cannot use the stream, or in a child of fork.
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) [[nodiscard]] epoch_range
      epoch(Number number, stream_ref stream = {}) & {
    if (std::cmp_less(number, 0)) refuse_epoch(static_cast<std::int64_t>(number));
    return take_epoch(static_cast<std::uint64_t>(number), stream);
  }
  template <std::integral Number>
  epoch_range epoch(Number number, stream_ref stream = {}) && = delete;

  /// Where the run stands, for `seek`: behind the last batch that was taken. So in the body of a
  /// loop, the loop's batch counts as done, and so do all that are held. What was read ahead and
  /// not taken does not count, nor do epochs that were only asked for.
  ///
  ///     before the first batch        where the first epoch that was asked for begins, or epoch 0
  ///     an epoch was left by `break`  behind the last batch taken, until another epoch begins
  ///     its last batch was taken      that epoch, with no batch left
  ///     its range has ended           the next epoch, batch 0
  ///     after an error                the batch that cannot be had
  ///
  /// The first call, or that of `seek`, asks the sampler for 128 positions; each costs some copies
  /// of strings. @throws usage_error in a child of fork; what the sampler throws.
  [[nodiscard]] loader_state state() const;

  /// A number of all that the ranks of a run must have alike: the dataset's size and fields, the
  /// order, batch size, world, `partial_batch`, transforms and their seed, and what becomes of
  /// samples that cannot be read. Ranks that differ in it would train on batches of different runs:
  /// compare it between them, by whatever sums their gradients, before the first batch. All builds
  /// of one version of feedline give the same number; another version may give another one.
  ///
  /// The first call may ask the sampler for positions, as that of `state`; no call blocks.
  /// @throws usage_error in a child of fork; what the sampler throws.
  [[nodiscard]] std::uint64_t order_digest() const;

  /// Goes on where a state was taken, by this loader or another one of the same dataset, order and
  /// options: the next epoch that is asked for must be `state.epoch`, and begins with batch
  /// `state.batch`. Its batches, and all epochs behind it, are those that the first run would have
  /// had, bitwise. Readers, ring sizes, placement, device, and rank and world may be others.
  ///
  ///     loader.seek(state);
  ///     for (auto epoch = state.epoch; epoch < 10; ++epoch)
  ///       for (feedline::batch& batch : loader.epoch(epoch, stream)) step(batch);
  ///
  /// After a stage_error the loader goes on from there: seek to a place after the batch that cannot
  /// be had, or to the same one to try it again. Until then every step throws the error again.
  ///
  ///     loader_state state = loader.state();  // the batch that cannot be had
  ///     ++state.batch;
  ///     loader.seek(state);
  ///
  /// Takes the same time wherever the state is, and reads nothing again. Ranges that were asked for
  /// before it are abandoned: their next step throws usage_error, but for those that ended. Batches
  /// stay valid. It blocks for nothing.
  /// @throws usage_error, and then changes nothing, if the state is of a dataset of another size or
  /// other fields, another order, global batch, `partial_batch`, `seed` or transforms, or
  /// of a batch after the epoch's end; if its counts of unreadable samples cannot be; if delivery
  /// has ended, because the device or memory has failed the loader; in a child of fork; what the
  /// sampler throws.
  void seek(const loader_state& state);

  /// Which samples could not be read, as far as their batches were taken: what
  /// `loader_options::errors` was applied to. Behind an epoch's end, those of a last batch that was
  /// cut off too. With `error_action::fail` there are none: the stage_error tells the sample.
  /// @throws usage_error in a child of fork.
  [[nodiscard]] failure_report failures() const;

  /// What the loader has done so far, and where the time of its stages went. Always measured; any
  /// thread may call it, at any time but while the loader is made, moved or destroyed. Costs some
  /// microseconds; takes no lock of the stages'.
  ///
  ///     const auto before = loader.statistics();
  ///     for (feedline::batch& batch : loader.epoch(epoch, stream)) step(batch);
  ///     std::cout << feedline::report(loader.statistics().since(before));
  ///
  /// @throws usage_error in a child of fork.
  [[nodiscard]] loader_statistics statistics() const;

  /// What the loader's threads and streams did, and when: the newest `trace_events` activities of
  /// each. The files that `write_trace_page` and others make of it are its pictures. What is under
  /// way, on a thread or a stream, is not in it yet. Any thread; blocks for nothing.
  /// @throws usage_error if `expert_options::trace_events` is 0, and in a child of fork.
  [[nodiscard]] feedline::trace trace() const;

  /// Ends all reading ahead: every range ends at its next step, and every later one is empty.
  /// Blocks for nothing.
  void stop() noexcept;

  /// Sizes, depths and totals as chosen at construction.
  [[nodiscard]] const loader_plan& plan() const;

 private:
  [[nodiscard]] epoch_range take_epoch(std::uint64_t number, stream_ref stream);
  [[noreturn]] static void refuse_epoch(std::int64_t number);
  [[nodiscard]] detail::pipeline& held() const;
  void shut_down() noexcept;

  std::shared_ptr<detail::pipeline> pipeline_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
