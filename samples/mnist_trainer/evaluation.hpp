#pragma once

#include <feedline/feedline.hpp>

#include "network.hpp"
#include "options.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

namespace mnist {

/// @param batch_size Samples in a batch of this rank.
inline feedline::loader_options loading(const trainer_options& options, const rank& self,
                                        std::uint64_t batch_size) {
  feedline::loader_options loading{.batch_size = batch_size, .shard = self.share};
  loading.epochs = options.epochs;  // so that each is read ahead while the one before ends
  loading.readers = options.prefetch ? options.readers : 0;
  loading.expert.batches_per_slot = options.prefetch ? 0 : 1;
  loading.placement = options.placement;
  loading.memory.cache = options.cache_mib << 20;
  // Bytes cross the bus, floats reach the network. This is MNIST's mean pixel, and its deviation.
  loading.transforms = {{.field = "image", .mean = {33.3}, .stddev = {78.6}},
                        {.field = "label", .one_hot = classes}};
  return loading;
}

/// A view of a batch for the network.
/// @param digits Digits of the dataset: global batches follow one another, each with the ranks'
/// parts in order; repeats come last.
inline digits_view view_of(const feedline::batch& batch, const feedline::loader& from,
                           const rank& self, std::uint64_t digits) {
  const std::uint64_t global =
      from.plan().batch_size * static_cast<std::uint64_t>(self.share.world);
  return {.images = batch["image"].data<float>(),
          .labels = batch["label"].data<float>(),
          .size = batch.size(),
          .count = batch.size() - batch.repeats(),
          .together = std::min(global, digits - batch.index() * global),
          .first = batch.size() * static_cast<std::uint64_t>(self.share.rank)};
}

/// Counts the test digits that a network recognises. Its answers come back by a result ring, and a
/// separate thread counts them: so the training thread issues an evaluation and continues.
template <class Device>
class evaluation {
 public:
  static constexpr std::uint64_t batch_size = 500;  ///< for each rank

  evaluation(const trainer_options& options, const rank& self, Device& on,
             const feedline::dataset_ptr& digits)
      : self_{self},
        on_{on},
        digits_{digits->size()},
        loader_{digits, feedline::sequential{}, on.device(), loading(options, self, batch_size)},
        score_{on.template allocate<float>(3)},
        // A slot for each batch: no push waits for one.
        results_{on.device(),
                 {.slot_bytes = 3 * sizeof(float), .slots = loader_.plan().batches_per_epoch}} {}

  /// Issues an evaluation on the device's stream, and waits for nothing that is issued here.
  /// @param then Gets the share of digits that were recognised: on the first rank, on a thread of
  /// its own, when the answers are there.
  void begin(network<Device>& model, std::uint64_t epoch, std::function<void(double)> then) {
    wait();  // for the evaluation of the epoch before, which ended long ago
    for (const feedline::batch& batch : loader_.epoch(epoch, on_.stream())) {
      model.test(view_of(batch, loader_, self_, digits_), score_);
      on_.sum(score_, 3);
      on_.wait_for_sums();
      // The lease that it returns ends at once: the next batch's score is written after the copy.
      if (self_.is_first())
        (void)results_.push(score_, 3 * sizeof(float), on_.stream(), {epoch, batch.index()});
    }
    if (self_.is_first())
      counting_ =
          std::async(std::launch::async, [this, then = std::move(then)] { then(recognised()); });
  }
  /// Waits until `then` has returned. @throws the exception of `then`; std::runtime_error if a
  /// label was no class; feedline::stage_error.
  void wait() {
    if (counting_.valid()) counting_.get();
  }

 private:
  double recognised() {
    double right = 0;
    double unknown = 0;
    for (std::uint64_t i = 0; i < loader_.plan().batches_per_epoch; ++i) {
      const auto result = results_.next();  // in the order of the pushes
      right += result->template values<float>()[1];
      unknown += result->template values<float>()[2];
    }
    require_classes(unknown);
    return right / static_cast<double>(digits_);
  }

  rank self_;
  Device& on_;
  std::uint64_t digits_;
  feedline::loader loader_;
  float* score_;  // one batch of all ranks, on the device
  feedline::result_ring results_;
  std::future<void> counting_;
};

}  // namespace mnist
