#pragma once

#include <feedline/feedline.hpp>

#include "batch_lines.hpp"
#include "checkpoint.hpp"
#include "digits.hpp"
#include "loading.hpp"
#include "network.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "report.hpp"
#include "scoreboard.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mnist {

/// One rank's training: all of it, where there is one.
template <class Device>
class training {
 public:
  /// @param team Of the ranks: blocks until all are there, if they are several.
  training(const trainer_options& options, const rank& self, Device& on,
           typename Device::team& team);

  /// All epochs that are left.
  void run();

 private:
  static constexpr std::uint64_t test_batch = 500;  // of each rank

  void meet(typename Device::team& team);
  void train(std::uint64_t epoch);
  double test(std::uint64_t epoch);
  void take_scores(std::uint64_t epoch);
  void save(std::uint64_t epoch);
  void resume();
  digits_view view(const feedline::batch& batch, const feedline::loader& of) const;

  const trainer_options& options_;
  rank self_;
  Device& on_;
  std::pair<feedline::dataset_ptr, feedline::dataset_ptr> digits_;
  feedline::loader train_;
  feedline::loader test_;
  network<Device> model_;
  scoreboard<Device> board_;

  bool resumed_ = false;
  feedline::loader_state begin_;  // where this run begins: it may be resumed
  std::uint64_t taken_ = 0;       // batches of the epoch whose scores were taken, by any run
  score so_far_;                  // of these
  batch_lines losses_;            // these write nothing but on the first rank
  batch_lines checksums_;
};

template <class Device>
training<Device>::training(const trainer_options& options, const rank& self, Device& on,
                           typename Device::team& team)
    : options_{options},
      self_{self},
      on_{on},
      digits_{open_digits(options.data)},
      train_{digits_.first, order_of(options), on.device(),
             loading(options, self, self.share.batch_share(options.batch_size))},
      test_{digits_.second, feedline::sequential{}, on.device(),
            loading(options, self, test_batch)},
      model_{on, feedline::sample_bytes(digits_.first->fields().front()),
             std::max(train_.plan().batch_size, test_batch), options.seed, options.overlap},
      board_{on, std::max(train_.plan().batches_per_epoch, test_.plan().batches_per_epoch),
             feedline::sample_bytes(digits_.first->fields().front()), !options.checksums.empty()} {
  if (options.resume) resume();
  if (self.is_first()) {
    losses_ = batch_lines{options.losses, begin_};
    checksums_ = batch_lines{options.checksums, begin_};
  }
  if (self.share.world > 1) meet(team);
}

template <class Device>
void training<Device>::meet(typename Device::team& team) {
  std::vector<unsigned long long> places{begin_.epoch, begin_.batch};
  auto* const sums = on_.template allocate<unsigned long long>(places.size());
  on_.upload(std::span<const unsigned long long>{places}, sums);
  // Ranks meet when all memory is there: to allocate may mean to wait for a GPU, and a GPU that
  // sums waits for the other ranks.
  on_.join(team);
  on_.sum(sums, places.size());
  on_.wait_for_sums();
  on_.download(sums, std::span{places});
  const auto world = static_cast<unsigned long long>(self_.share.world);
  if (places[0] != world * begin_.epoch || places[1] != world * begin_.batch)
    throw feedline::usage_error{"rank " + std::to_string(self_.share.rank) + " begins at epoch " +
                                std::to_string(begin_.epoch + 1) + ", batch " +
                                std::to_string(begin_.batch) +
                                ", and others elsewhere: all ranks must see the same --checkpoint"};
}

/// The whole of what feedline asks of a training loop: go through the batches on your stream, and
/// issue work on it. Nothing here waits for the GPU, but to write a checkpoint.
template <class Device>
void training<Device>::train(std::uint64_t epoch) {
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
    const digits_view digits = view(batch, train_);
    model_.train(digits, board_.next(digits), peak_rate * static_cast<float>(share));
    if (options_.every != 0 && (step + 1) % options_.every == 0) save(epoch);
    on_.begin_wait();
  }
  on_.end_wait();
}

/// @return The share of digits that were recognised.
template <class Device>
double training<Device>::test(std::uint64_t epoch) {
  for (const feedline::batch& batch : test_.epoch(epoch, on_.stream())) {
    const digits_view digits = view(batch, test_);
    model_.test(digits, board_.next(digits));
  }
  score all;
  for (const batch_result& batch : board_.take()) all += batch.of;
  return all.right / all.digits;
}

template <class Device>
void training<Device>::run() {
  if (self_.is_first()) {
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
  if (begin_.epoch >= options_.epochs) return;

  report told{options_};
  for (std::uint64_t epoch = begin_.epoch; epoch < options_.epochs; ++epoch) {
    const std::uint64_t first = taken_;
    const double seen = so_far_.digits;
    const auto begun = std::chrono::steady_clock::now();
    train(epoch);
    take_scores(epoch);  // waits for the GPU
    const seconds took = std::chrono::steady_clock::now() - begun;
    const seconds waited = on_.take_waited();
    const epoch_report found{.loss = so_far_.loss / so_far_.digits,
                             .accuracy = test(epoch),
                             .batches = taken_ - first,
                             .digits = so_far_.digits - seen,
                             .took = took,
                             .waited = waited};
    if (self_.is_first()) told.tell(epoch, found);
    taken_ = 0;
    so_far_ = {};
    if (!options_.checkpoint.empty()) save(epoch);
  }
  if (self_.is_first()) told.tell_result(self_.share.world, on_.name());
}

/// Takes the scores of the epoch's batches since the last time, and writes their lines.
template <class Device>
void training<Device>::take_scores(std::uint64_t epoch) {
  for (const batch_result& batch : board_.take()) {
    char text[64];
    std::snprintf(text, sizeof text, "%.9g", batch.of.loss / batch.of.digits);
    losses_.add(epoch, taken_, text);
    std::snprintf(text, sizeof text, "%016llx", batch.checksum);
    checksums_.add(epoch, taken_, text);
    so_far_ += batch.of;
    ++taken_;
  }
  losses_.flush();
  checksums_.flush();
}

/// To be called by all ranks behind the same batch; the first one writes.
template <class Device>
void training<Device>::save(std::uint64_t epoch) {
  take_scores(epoch);
  if (self_.is_first())
    write_checkpoint(options_.checkpoint, {train_.state(), so_far_, model_.sizes(), model_.save()});
}

template <class Device>
void training<Device>::resume() {
  if (!std::filesystem::exists(options_.checkpoint)) return;
  const checkpoint found = read_checkpoint(options_.checkpoint, model_.sizes());
  train_.seek(found.place);
  model_.load(found.values);
  resumed_ = true;
  begin_ = found.place;
  taken_ = found.place.batch;
  so_far_ = found.so_far;
}

template <class Device>
digits_view training<Device>::view(const feedline::batch& batch, const feedline::loader& of) const {
  // Global batches stand one behind the other, and in each the ranks' parts; repeats are behind.
  const auto world = static_cast<std::uint64_t>(self_.share.world);
  const std::uint64_t global_batch = of.plan().batch_size * world;
  const std::uint64_t samples = (&of == &train_ ? digits_.first : digits_.second)->size();
  const std::uint64_t together = std::min(global_batch, samples - batch.index() * global_batch);
  return {.images = batch["image"].data<float>(),
          .labels = batch["label"].data<float>(),
          .size = batch.size(),
          .count = batch.size() - batch.repeats(),
          .together = together,
          .first = batch.size() * static_cast<std::uint64_t>(self_.share.rank)};
}

}  // namespace mnist
