#include "training.hpp"

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace mnist {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

struct epoch_report {
  score trained;
  seconds took{};
  seconds waited{};
};

digits_view view(const feedline::batch& batch) {
  return {batch["image"].data<float>(), batch["label"].data<std::uint8_t>(),
          static_cast<std::size_t>(batch.size())};
}

feedline::loader_options loading(const trainer_options& options, std::uint64_t batch_size) {
  feedline::loader_options loading;
  loading.batch_size = batch_size;
  loading.epochs = options.epochs;  // so that each is read ahead while the one before ends
  loading.readers = options.readers;
  loading.placement = options.placement;
  loading.max_device_cache_bytes = options.cache_mib << 20;
  // Bytes cross the bus, floats reach the network.
  loading.transforms = {{.field = "image", .mean = {pixel_mean}, .stddev = {pixel_deviation}}};
  if (!options.prefetch) {
    loading.readers = 0;
    loading.batches_per_slot = 1;
  }
  return loading;
}

/// The whole of what feedline asks of a training loop: take a batch on your stream, issue work on
/// it, let the batch go. Nothing here waits for the GPU but the score, at the epoch's end.
epoch_report train_epoch(const trainer_options& options, feedline::loader& loader,
                         std::uint64_t epoch, compute& on) {
  const std::uint64_t steps = loader.plan().batches_per_epoch;
  progress_line progress{
      "epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs), steps};
  const clock::time_point begun = clock::now();
  feedline::epoch_range batches = loader.epoch(epoch, on.stream);
  for (std::uint64_t step = 0;; ++step) {
    on.waiting->begin();
    const std::optional<feedline::batch> batch = batches.next();
    on.waiting->end();
    if (!batch) break;

    const digits_view digits = view(*batch);
    on.checksum->add(digits);
    on.model->train(digits, learning_rate_at(epoch * steps + step, options.epochs * steps,
                                             options.learning_rate));
    progress.show(step + 1);
  }
  epoch_report report;
  report.trained = on.model->take_score();
  report.took = clock::now() - begun;
  report.waited = on.waiting->take();
  return report;
}

score test(feedline::loader& loader, std::uint64_t epoch, compute& on) {
  for (const feedline::batch& batch : loader.epoch(epoch, on.stream)) on.model->test(view(batch));
  return on.model->take_score();
}

feedline::shuffle order(const trainer_options& options) {
  feedline::shuffle order{.seed = options.seed};
  if (options.within_chunks != 0) order.within = feedline::chunks(options.within_chunks);
  return order;
}

}  // namespace

training_result train(const trainer_options& options, const digit_sets& digits, compute& on) {
  feedline::loader training{digits.train, order(options), on.device,
                            loading(options, options.batch_size)};
  feedline::loader testing{digits.test, feedline::sequential{}, on.device,
                           loading(options, test_batch)};
  std::fprintf(stderr, "%s\n", to_string(training.plan()).c_str());

  const auto samples = static_cast<double>(training.plan().samples_per_epoch);
  training_result result;
  seconds took{};
  seconds waited{};
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    const epoch_report report = train_epoch(options, training, epoch, on);
    result.accuracy = test(testing, epoch, on).accuracy;
    took += report.took;
    waited += report.waited;
    std::printf(
        "epoch %llu/%llu  loss %.4f  accuracy %.4f  %.0f samples/s  waited for data %.1f ms "
        "(%.2f %%)\n",
        static_cast<unsigned long long>(epoch + 1), static_cast<unsigned long long>(options.epochs),
        report.trained.mean_loss, result.accuracy, samples / report.took.count(),
        1e3 * report.waited.count(), 100.0 * report.waited.count() / report.took.count());
    std::fflush(stdout);
  }
  result.samples_per_second = samples * static_cast<double>(options.epochs) / took.count();
  result.wait_fraction = waited.count() / took.count();
  result.batches_checksum = on.checksum->value();
  return result;
}

}  // namespace mnist
