#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/feedline.hpp>

#include "digits.hpp"
#include "evaluation.hpp"
#include "network.hpp"
#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace mnist {

/// A training from begin to end. mnist_several_gpus derives another one from it, which writes
/// checkpoints: the virtual functions are for that.
template <class Device>
class training {
 public:
  training(const trainer_options& options, Device& on)
      : options_{options},
        on_{on},
        digits_{open_digits(options.data)},
        train_{digits_.first, order_of(options), on.device(),
               loading(options, on.share(), on.share().batch_share(options.batch_size))},
        model_{on, feedline::sample_bytes(digits_.first->fields().front()),
               std::max(train_.plan().batch_size, evaluation<Device>::batch_size), options.seed},
        scores_{on.template allocate<float>(3 * train_.plan().batches_per_epoch)},
        test_{options, on, digits_.second} {}
  virtual ~training() = default;

  /// Runs all remaining epochs.
  void run() {
    if (is_first()) tell_begin();
    for (std::uint64_t epoch = begin_.epoch; epoch < options_.epochs; ++epoch) {
      const score before = so_far_;
      const std::uint64_t first = taken_;
      const auto waited = train_.statistics().exposed;
      on_.begin();
      train(epoch);
      take_scores(epoch);
      const double took = on_.seconds();
      const report found{
          so_far_.loss / so_far_.digits, static_cast<double>(taken_ - first),
          so_far_.digits - before.digits, took,
          1e-9 * static_cast<double>((train_.statistics().exposed - waited).count())};
      // The epoch's line is printed when the answers are there; the next epoch begins meanwhile.
      test_.begin(model_, epoch, [=, this](double accuracy) { tell(epoch, found, accuracy); });
      taken_ = 0;
      so_far_ = {};
      on_epoch(epoch);
    }
    test_.wait();
    if (is_first() && begin_.epoch < options_.epochs) tell_result();
  }

 protected:
  virtual void on_step(std::uint64_t /*epoch*/, std::uint64_t /*step*/, const digits_view&) {}
  virtual void on_score(std::uint64_t /*epoch*/, std::uint64_t /*batch*/, const score&) {}
  virtual void on_epoch(std::uint64_t /*epoch*/) {}
  virtual void tell_begin() const {
    std::printf("data: %s, %ju digits to train on, %ju to test with\ndevice: %s, %s\n",
                options_.data.c_str(), std::uintmax_t{digits_.first->size()},
                std::uintmax_t{digits_.second->size()}, on_.name().c_str(),
                on_.device()->capabilities().name.c_str());
    std::fprintf(stderr, "%s\n", to_string(train_.plan()).c_str());
  }
  bool is_first() const { return on_.share().rank == 0; }  // this rank prints

  /// Adds the scores of the epoch's batches since the last call. Waits for the device and the other
  /// ranks, which must call it after the same batch. @throws std::runtime_error if a label was no
  /// class.
  void take_scores(std::uint64_t epoch) {
    std::vector<float> scores(3 * issued_.size());
    on_.sum(scores_, scores.size());
    on_.wait_for_sums();
    on_.download(scores_, std::span{scores});
    double unknown = 0;
    for (std::size_t i = 0; i < issued_.size(); ++i) {
      const score of{scores[3 * i], issued_[i]};
      on_score(epoch, taken_++, of);
      so_far_ = {so_far_.loss + of.loss, so_far_.digits + of.digits};
      unknown += scores[3 * i + 2];
    }
    issued_.clear();
    require_classes(unknown);
  }

  const trainer_options& options_;
  Device& on_;
  std::pair<feedline::dataset_ptr, feedline::dataset_ptr> digits_;
  feedline::loader train_;
  network<Device> model_;
  feedline::loader_state begin_;  // first position of this run
  std::uint64_t taken_ = 0;       // batches of the epoch whose scores were taken, by any run
  score so_far_;                  // sums over these batches

 private:
  /// An epoch, or its part that this run trained.
  struct report {
    double loss = 0;  ///< mean of the whole epoch
    double batches = 0;
    double digits = 0;
    double seconds = 0;
    double waited = 0;  ///< seconds that the stream or the host waited for data
  };

  static feedline::shuffle order_of(const trainer_options& options) {
    feedline::shuffle order{.seed = options.seed};
    if (options.within_chunks != 0) order.within = feedline::chunks(options.within_chunks);
    return order;
  }

  /// All that feedline asks of a training loop: go through the batches on your stream, and issue
  /// work on it. Nothing here waits for the GPU.
  void train(std::uint64_t epoch) {
    const std::uint64_t steps = train_.plan().batches_per_epoch;
    constexpr float peak_rate = 0.05F;
    for (const feedline::batch& batch : train_.epoch(epoch, on_.stream())) {
      const std::uint64_t step = epoch * steps + batch.index();
      // The rate rises in the first twentieth of all steps, then falls along a cosine.
      const double at =
          (static_cast<double>(step) + 0.5) / static_cast<double>(options_.epochs * steps);
      const double share = std::min(20.0 * at, 0.5 + 0.5 * std::cos(std::numbers::pi * at));
      const digits_view digits = view_of(batch, train_, on_.share(), digits_.first->size());
      model_.train(digits, scores_ + 3 * issued_.size(), peak_rate * static_cast<float>(share));
      issued_.push_back(static_cast<double>(digits.together));
      on_step(epoch, step, digits);
    }
  }

  /// Prints an epoch's line. Called on a thread of `test_`, one at a time.
  void tell(std::uint64_t epoch, const report& found, double accuracy) {
    all_ = {found.loss, 0, all_.digits + found.digits, all_.seconds + found.seconds,
            all_.waited + found.waited};
    accuracy_ = accuracy;
    if (found.batches != 0) step_ = std::min(step_, found.seconds / found.batches);
    std::printf(
        "epoch %ju/%ju  loss %.4f  accuracy %.4f  %.0f samples/s  waited for data %.1f ms "
        "(%.2f %%)\n",
        std::uintmax_t{epoch + 1}, std::uintmax_t{options_.epochs}, found.loss, accuracy,
        found.digits / found.seconds, 1e3 * found.waited, 100 * found.waited / found.seconds);
  }

  /// Prints the last lines; the very last one is for programs to read.
  void tell_result() const {
    const double fraction = all_.waited / all_.seconds;
    const char* const words =
        !options_.prefetch
            ? "This is what reading costs where nothing is read ahead; leave out --no-prefetch."
        : fraction < 0.05 ? "That is little: the digits are read while the network computes."
                          : "That is much: more --readers or a faster disk would help.";
    std::printf(
        "The network waited for its data for %.1f %% of the time. %s\n"
        "result accuracy=%.4f loss=%.9g samples_per_second=%.0f wait_fraction=%.4f step_us=%.1f "
        "ranks=%d device=%s\n",
        100 * fraction, words, accuracy_, all_.loss, all_.digits / all_.seconds, fraction,
        1e6 * step_, on_.share().world, on_.name().c_str());
  }

  float* scores_;               // three for each batch of `issued_`, on the device
  std::vector<double> issued_;  // digits of each batch since the last `take_scores`
  report all_;                  // sums over the printed epochs, and the last one's loss
  double accuracy_ = 0;
  double step_ = std::numeric_limits<double>::infinity();  // seconds a step of the fastest epoch
  evaluation<Device> test_;  // the last member, because its calls use the others
};

}  // namespace mnist
