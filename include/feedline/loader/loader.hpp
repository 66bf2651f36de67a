#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/export.hpp>
#include <feedline/loader/epoch_range.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/sampler/sampler.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

namespace FEEDLINE_EXPORT feedline {

/// Feeds one consumer: reads batches of a dataset ahead, in a sampler's order, into memory its
/// device can use.
///
///     feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 256}};
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (feedline::batch& batch : loader.epoch(epoch, feedline::stream_ref{compute_stream}))
///         step(batch["image"].data<std::uint8_t>(), batch.size(), compute_stream);
///
/// Owns its threads (readers and one for the transfer) and all sample memory, allocated once.
/// Destroying it stops them, waiting for a read and a copy that are under way; batches still held
/// stay valid.
///
/// Threads: all functions belong to the consumer's thread, but for `stop`, which any thread may
/// call. In a child of fork a loader may only be destroyed; its memory stays until the child ends.
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
  /// @throws usage_error if the number is negative, the device cannot use the stream, or in a child
  /// of fork.
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) [[nodiscard]] epoch_range
      epoch(Number number, stream_ref stream = {}) & {
    if (std::cmp_less(number, 0)) refuse_epoch(static_cast<std::int64_t>(number));
    return take_epoch(static_cast<std::uint64_t>(number), stream);
  }
  template <std::integral Number>
  epoch_range epoch(Number number, stream_ref stream = {}) && = delete;

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

}  // namespace feedline
