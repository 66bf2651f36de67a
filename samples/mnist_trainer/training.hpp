#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/feedline.hpp>

#include "evaluation.hpp"
#include "files.hpp"
#include "network.hpp"
#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mnist {

/// The training of one rank; with a single rank this is the whole training.
template <class Device>
class training {
 public:
  /// @param team The ranks; if they are several, this blocks until all have joined.
  training(const trainer_options& options, const rank& self, Device& on,
           typename Device::team& team)
      : options_{options},
        self_{self},
        on_{on},
        digits_{open_digits(options.data)},
        train_{digits_.first, order_of(options), on.device(),
               loading(options, self, self.share.batch_share(options.batch_size))},
        model_{on, feedline::sample_bytes(digits_.first->fields().front()),
               std::max(train_.plan().batch_size, evaluation<Device>::batch_size), options.seed,
               options.overlap},
        board_{on, train_.plan().batches_per_epoch,
               feedline::sample_bytes(digits_.first->fields().front()), !options.checksums.empty()},
        test_{options, self, on, digits_.second} {
    if (options.resume) resume();
    if (self.is_first()) {
      losses_ = batch_lines{options.losses, begin_};
      checksums_ = batch_lines{options.checksums, begin_};
    }
    if (self.share.world > 1) meet(team);
  }

  /// Runs all remaining epochs.
  void run() {
    if (self_.is_first()) tell_begin();
    if (begin_.epoch >= options_.epochs) return;
    for (std::uint64_t epoch = begin_.epoch; epoch < options_.epochs; ++epoch) {
      const std::uint64_t first = taken_;
      const double seen = so_far_.digits;
      train(epoch);
      take_scores(epoch);
      const epoch_report found{.of = so_far_,
                               .batches = taken_ - first,
                               .digits = so_far_.digits - seen,
                               .times = on_.take_times()};
      // The epoch's line is printed when the answers are there; the next epoch begins meanwhile.
      test_.begin(model_, epoch, [=, this](double accuracy) { tell(epoch, found, accuracy); });
      taken_ = 0;
      so_far_ = {};
      if (!options_.checkpoint.empty()) save(epoch);
    }
    test_.wait();
    if (self_.is_first()) tell_result();
  }

 private:
  /// Results of an epoch.
  struct epoch_report {
    score of;               ///< all its batches
    std::uint64_t batches;  ///< batches of it in this run
    double digits;          ///< digits in these batches
    epoch_times times;
  };

  static feedline::shuffle order_of(const trainer_options& options) {
    feedline::shuffle order{.seed = options.seed};
    if (options.within_chunks != 0) order.within = feedline::chunks(options.within_chunks);
    return order;
  }

  /// All that feedline asks of a training loop: go through the batches on your stream, and issue
  /// work on it. Nothing here waits for the GPU, except to write a checkpoint.
  void train(std::uint64_t epoch) {
    const std::uint64_t steps = train_.plan().batches_per_epoch;
    constexpr float peak_rate = 0.05F;
    on_.begin_wait();
    for (const feedline::batch& batch : train_.epoch(epoch, on_.stream())) {
      on_.end_wait();
      const std::uint64_t step = epoch * steps + batch.index();
      // The rate rises in the first twentieth of all steps, then falls along a cosine.
      const double at =
          (static_cast<double>(step) + 0.5) / static_cast<double>(options_.epochs * steps);
      const double share = std::min(20.0 * at, 0.5 + 0.5 * std::cos(std::numbers::pi * at));
      const digits_view digits = view_of(batch, train_, self_, digits_.first->size());
      model_.train(digits, board_.next(digits), peak_rate * static_cast<float>(share));
      if (options_.every != 0 && (step + 1) % options_.every == 0) save(epoch);
      on_.begin_wait();
    }
    on_.end_wait();
  }

  /// Adds the scores of the epoch's batches since the last call, and writes their lines. Waits for
  /// the device and the other ranks.
  void take_scores(std::uint64_t epoch) {
    for (const batch_result& batch : board_.take()) {
      losses_.add(epoch, taken_, "%.9g", batch.of.loss / batch.of.digits);
      checksums_.add(epoch, taken_, "%016llx", batch.checksum);
      so_far_ += batch.of;
      ++taken_;
    }
    losses_.flush();
    checksums_.flush();
  }

  /// All ranks call it after the same batch; the first one writes.
  void save(std::uint64_t epoch) {
    take_scores(epoch);
    if (self_.is_first())
      write_checkpoint(options_.checkpoint,
                       {train_.state(), so_far_, model_.sizes(), model_.save()});
  }

  void resume() {
    if (!std::filesystem::exists(options_.checkpoint)) return;
    const checkpoint found = read_checkpoint(options_.checkpoint, model_.sizes());
    train_.seek(found.place);
    model_.load(found.values);
    resumed_ = true;
    begin_ = found.place;
    taken_ = found.place.batch;
    so_far_ = found.so_far;
  }

  /// Ranks meet when all memory is allocated: an allocation may wait for a GPU, and a GPU that sums
  /// waits for the other ranks.
  void meet(typename Device::team& team) {
    // These values must be equal on all ranks; otherwise they would train on batches of different
    // runs, or wait for each other forever. Each compares the sum over all ranks with its own
    // share.
    const std::vector<unsigned long long> own{
        begin_.epoch,   begin_.batch,     train_.order_digest(),      options_.epochs,
        options_.every, options_.overlap, !options_.checksums.empty()};
    auto* const sums = on_.template allocate<unsigned long long>(own.size());
    on_.upload(std::span{own}, sums);
    on_.join(team);
    on_.sum(sums, own.size());
    on_.wait_for_sums();
    std::vector<unsigned long long> found(own.size());
    on_.download(sums, std::span{found});
    const auto differs = [&](std::size_t i) {
      return found[i] != own[i] * static_cast<unsigned long long>(self_.share.world);
    };
    const std::string self = "rank " + std::to_string(self_.share.rank);
    for (std::size_t i = 2; i < own.size(); ++i)
      if (differs(i))
        throw feedline::usage_error{
            self +
            " has another training than other ranks: " + std::to_string(digits_.first->size()) +
            " digits, batches of " + std::to_string(options_.batch_size) + ", seed " +
            std::to_string(options_.seed) + ", " + std::to_string(options_.epochs) +
            " epochs; all ranks must have the same digits and the same options"};
    if (differs(0) || differs(1))
      throw feedline::usage_error{
          self + " begins at epoch " + std::to_string(begin_.epoch + 1) + ", batch " +
          std::to_string(begin_.batch) +
          ", and others elsewhere: all ranks must see the same --checkpoint"};
  }

  void tell_begin() const {
    std::printf("data: %s, %ju digits to train on, %ju to test with\ndevice: %s, %s\n",
                options_.data.c_str(), std::uintmax_t{digits_.first->size()},
                std::uintmax_t{digits_.second->size()}, on_.name().c_str(),
                on_.device()->capabilities().name.c_str());
    std::fprintf(stderr, "%s\n", to_string(train_.plan()).c_str());
    if (resumed_)
      std::printf("resume: at epoch %ju, batch %ju\n", std::uintmax_t{begin_.epoch + 1},
                  std::uintmax_t{begin_.batch});
    else if (options_.resume)
      std::printf("resume: there is no %s yet\n", options_.checkpoint.c_str());
    if (begin_.epoch >= options_.epochs)
      std::printf("%s is the end of %ju epochs: nothing is left to do\n",
                  options_.checkpoint.c_str(), std::uintmax_t{begin_.epoch});
  }

  /// Prints an epoch's line. Called on a thread of `test_`, one at a time.
  void tell(std::uint64_t epoch, const epoch_report& found, double accuracy) {
    const auto& [took, waited] = found.times;
    loss_ = found.of.loss / found.of.digits;
    accuracy_ = accuracy;
    trained_on_ += found.digits;
    times_.took += took;
    times_.waited += waited;
    if (found.batches != 0) step_ = std::min(step_, took / static_cast<double>(found.batches));
    std::printf(
        "epoch %ju/%ju  loss %.4f  accuracy %.4f  %.0f samples/s  waited for data %.1f ms "
        "(%.2f %%)\n",
        std::uintmax_t{epoch + 1}, std::uintmax_t{options_.epochs}, loss_, accuracy,
        found.digits / took.count(), 1e3 * waited.count(), 100.0 * (waited / took));
  }

  /// Prints the last lines; the very last one is for programs to read.
  void tell_result() const {
    const double fraction = times_.waited / times_.took;
    const char* const words =
        !options_.prefetch
            ? "This is what reading costs where nothing is read ahead; leave out --no-prefetch."
        : fraction < 0.05 ? "That is little: the digits are read while the network computes."
                          : "That is much: more --readers or a faster disk would help.";
    std::printf("The network waited for its data for %.1f %% of the time. %s\n", 100.0 * fraction,
                words);
    std::printf(
        "result accuracy=%.4f loss=%.9g samples_per_second=%.0f wait_fraction=%.4f step_us=%.1f "
        "ranks=%d device=%s\n",
        accuracy_, loss_, trained_on_ / times_.took.count(), fraction,
        1e6 * (step_ == seconds::max() ? 0.0 : step_.count()), self_.share.world,
        on_.name().c_str());
  }

  const trainer_options& options_;
  rank self_;
  Device& on_;
  std::pair<feedline::dataset_ptr, feedline::dataset_ptr> digits_;
  feedline::loader train_;
  network<Device> model_;
  scoreboard<Device> board_;

  bool resumed_ = false;
  feedline::loader_state begin_;  // first position of this run, which may be resumed
  std::uint64_t taken_ = 0;       // batches of the epoch whose scores were taken, by any run
  score so_far_;                  // sums over these batches
  batch_lines losses_;            // on other ranks than the first these write nothing
  batch_lines checksums_;

  double loss_ = 0;  // these two are of the last printed epoch, the others of all
  double accuracy_ = 0;
  double trained_on_ = 0;
  epoch_times times_;
  seconds step_ = seconds::max();  // mean of the fastest epoch, because the first one warms up
  evaluation<Device> test_;        // the last member, because its calls use the others
};

}  // namespace mnist
