// Trains the network of mnist_trainer by CUDA graphs and by launches, in turn, and says what the
// graphs save. Batches are small here: a step takes the host longer to launch than the GPU to run.
//
// Run:    mnist_graphs DATA [EPOCHS]       DATA is that of mnist_trainer --data
// Expect: a table of steps a second, each way, for batches of the loader and for some that are held
//         all the time: what the loader costs is the difference

#include <feedline/cuda/graphs/step_graphs.hpp>
#include <feedline/feedline.hpp>

#include "digits.hpp"
#include "evaluation.hpp"
#include "gpu.cuh"
#include "network.hpp"
#include "options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::uint64_t batch_size = 64;
/// Each address of a batch has a graph. A GPU takes some 4 us longer for each launch where many
/// graphs take turns: 128 did, 32 did not.
constexpr std::uint64_t in_a_slot = 8;

/// A network, its training data, and two ways to issue steps.
class race {
 public:
  race(const feedline::dataset_ptr& digits, std::uint64_t epochs)
      : epochs_{epochs},
        digits_{digits->size()},
        train_{digits, feedline::shuffle{.seed = 1}, on_.device(), options()},
        model_{on_, feedline::sample_bytes(digits->fields().front()), batch_size, 1},
        score_{on_.allocate<float>(3)},
        graphs_{on_.stream()} {}

  /// Seconds for a step, over all epochs, on batches of the loader.
  double from_loader(bool by_graphs) {
    std::uint64_t steps = 0;
    const double took = time([&] {
      for (std::uint64_t i = 0; i < epochs_; ++i)
        for (const feedline::batch& batch : train_.epoch(epoch_++, on_.stream())) {
          step(batch, by_graphs);
          ++steps;
        }
    });
    return took / static_cast<double>(steps);
  }
  /// Seconds for a step on a few batches, repeated: no loader is faster.
  double on_held(std::size_t count, bool by_graphs) {
    auto range = train_.epoch(epoch_++, on_.stream());
    std::vector<feedline::batch> held;
    while (held.size() < count) held.push_back(std::move(*range.next()));
    for (const feedline::batch& batch : held) step(batch, by_graphs);
    const std::uint64_t steps = epochs_ * train_.plan().batches_per_epoch;
    return time([&] {
             for (std::uint64_t i = 0; i < steps; ++i) step(held[i % count], by_graphs);
           }) /
           static_cast<double>(steps);
  }
  std::size_t graphs() const { return graphs_.size(); }

 private:
  static feedline::loader_options options() {
    feedline::loader_options made = mnist::loading({}, {}, batch_size);
    made.epochs = std::numeric_limits<std::uint64_t>::max();
    made.expert.batches_per_slot = in_a_slot;
    made.partial_batch = feedline::partial_batch::drop;
    return made;
  }
  void step(const feedline::batch& batch, bool by_graphs) {
    const auto digits = mnist::view_of(batch, train_, on_.share(), digits_);
    const auto issue = [&] { model_.train(digits, score_, 0.01F); };
    by_graphs ? graphs_.run(batch, issue) : issue();
  }
  double time(const std::function<void()>& work) {
    on_.begin();
    work();
    return on_.seconds();
  }

  std::uint64_t epochs_;
  std::uint64_t digits_;
  std::uint64_t epoch_ = 0;
  mnist::gpu on_{0};
  feedline::loader train_;
  mnist::network<mnist::gpu> model_;
  float* score_;
  feedline::step_graphs graphs_;
};

using timings = std::vector<double>;

/// Median of an odd number of times.
double median(timings of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: mnist_graphs DATA [EPOCHS]\n");
    return 2;
  }
  return mnist::report_errors("mnist_graphs", [&] {
    race track{mnist::open_digits(argv[1]).first,
               argc > 2 ? std::max(1UL, std::strtoul(argv[2], nullptr, 10)) : 3};
    (void)track.from_loader(true);  // captures the steps, and warms up
    (void)track.from_loader(false);
    constexpr int rounds = 5;
    timings loader[2];
    timings held[2];
    timings one[2];
    timings ratio[2];
    for (int round = 0; round < rounds; ++round)
      for (const bool by_graphs : {false, true}) {
        loader[by_graphs].push_back(track.from_loader(by_graphs));
        held[by_graphs].push_back(track.on_held(in_a_slot, by_graphs));
        one[by_graphs].push_back(track.on_held(1, by_graphs));
        ratio[by_graphs].push_back(loader[by_graphs].back() / held[by_graphs].back());
      }
    std::printf("batches of %ju digits; medians of %d rounds; %zu graphs\n\n",
                std::uintmax_t{batch_size}, rounds, track.graphs());
    std::printf("            steps/s   us/step   %ju batches held   ratio   one held\n",
                std::uintmax_t{in_a_slot});
    for (const bool by_graphs : {false, true})
      std::printf("%-8s %10.0f %9.2f %17.2f %7.3f %10.2f\n", by_graphs ? "graphs" : "launches",
                  1 / median(loader[by_graphs]), 1e6 * median(loader[by_graphs]),
                  1e6 * median(held[by_graphs]), median(ratio[by_graphs]),
                  1e6 * median(one[by_graphs]));
    std::printf("\ngraphs make %.2f times as many steps\n", median(loader[0]) / median(loader[1]));
  });
}
