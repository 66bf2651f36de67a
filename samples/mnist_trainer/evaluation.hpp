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

/// A view of a batch for the network. @param digits Number of digits in the dataset.
inline digits_view view_of(const feedline::batch& batch, const feedline::loader& from,
                           const feedline::shard& share, std::uint64_t digits) {
  const std::uint64_t global = from.plan().batch_size * static_cast<std::uint64_t>(share.world);
  return {.images = batch["image"].data<float>(),
          .labels = batch["label"].data<float>(),
          .size = batch.size(),
          .count = batch.size() - batch.repeats(),
          .together = std::min(global, digits - batch.index() * global)};
}

/// @param labels Number of labels that were no class. @throws std::runtime_error if there are any.
inline void require_classes(double labels) {
  if (labels != 0)
    throw std::runtime_error{std::to_string(static_cast<std::size_t>(labels)) +
                             " labels are above 9: the trainer knows the classes 0 to 9"};
}

/// Counts the test digits that a network recognises. Answers come back by a result ring to another
/// thread: so the training thread issues an evaluation and continues.
template <class Device>
class evaluation {
 public:
  static constexpr std::uint64_t batch_size = 500;  ///< for each rank

  evaluation(const trainer_options& options, Device& on, const feedline::dataset_ptr& digits)
      : on_{on},
        digits_{digits->size()},
        loader_{digits, feedline::sequential{}, on.device(),
                loading(options, on.share(), batch_size)},
        score_{on.template allocate<float>(3)},
        // A slot for each batch: no push waits for one.
        results_{on.device(),
                 {.slot_bytes = 3 * sizeof(float), .slots = loader_.plan().batches_per_epoch}} {}

  /// Issues an evaluation on the device's stream, and waits for nothing that is issued here.
  /// @param then Gets the share of digits that were recognised, on a thread of the first rank.
  void begin(network<Device>& model, std::uint64_t epoch, const std::function<void(double)>& then) {
    wait();  // for the evaluation of the epoch before, which ended long ago
    const bool is_first = on_.share().rank == 0;
    for (const feedline::batch& batch : loader_.epoch(epoch, on_.stream())) {
      model.test(view_of(batch, loader_, on_.share(), digits_), score_);
      on_.sum(score_, 3);
      on_.wait_for_sums();
      // The lease that it returns ends at once: the next batch's score is written after the copy.
      if (is_first)
        (void)results_.push(score_, 3 * sizeof(float), on_.stream(), {epoch, batch.index()});
    }
    if (is_first) counting_ = std::async(std::launch::async, [this, then] { then(recognised()); });
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

  Device& on_;
  std::uint64_t digits_;
  feedline::loader loader_;
  float* score_;  // one batch of all ranks, on the device
  feedline::result_ring results_;
  std::future<void> counting_;
};

}  // namespace mnist
