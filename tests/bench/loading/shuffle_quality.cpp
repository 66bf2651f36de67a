/// How well shuffle{.within = chunks(W)} mixes, and what it costs to compute: no GPU, no dataset.
///
///     feedline_bench_shuffle_quality [--samples 204800] [--classes 10] [--batch-size 256]
///         [--epochs 40]
///
/// Method: samples are taken to lie sorted by class, the worst case for an order that follows the
/// disk. The number of each class in each batch is counted; chi-square over its degrees of freedom
/// says how much more these numbers vary than in a true shuffle, where it is 1. It is printed for
/// the first and last half window of an epoch, for its middle, and for all of it, beside 1 + (B -
/// 1) / W. Then how long the order takes, a sample, in runs as a reader asks for them.

#include <feedline/sampler/shuffle.hpp>

#include "detail/arithmetic.hpp"
#include "sampler/chunk_order.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace feedline;
using feedline::detail::chunk_order;

namespace {

struct options {
  std::uint64_t samples = 204'800;
  std::uint64_t classes = 10;
  std::uint64_t batch_size = 256;
  std::uint64_t epochs = 40;
};

/// Sums the excess variance of some batches.
class mixture {
 public:
  explicit mixture(const options& options) : options_{options}, counts_(options.classes) {}

  void add(const std::vector<sample_index>& batch) {
    std::fill(counts_.begin(), counts_.end(), 0.0);
    for (const auto index : batch) ++counts_[index.value * options_.classes / options_.samples];
    const double expected =
        static_cast<double>(batch.size()) / static_cast<double>(options_.classes);
    for (const double count : counts_) sum_ += (count - expected) * (count - expected) / expected;
    ++batches_;
  }

  double excess() const { return sum_ / static_cast<double>(batches_ * (options_.classes - 1)); }

 private:
  const options& options_;
  std::vector<double> counts_;
  double sum_ = 0;
  std::uint64_t batches_ = 0;
};

template <class Order>
void print_quality(const options& options, const Order& order, std::uint64_t chunk,
                   std::uint64_t windows) {
  const double window =
      static_cast<double>(detail::divide_up(options.samples, chunk)) / static_cast<double>(windows);
  const std::uint64_t batches = options.samples / options.batch_size;
  const auto ends = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(window * static_cast<double>(chunk)) / 2 / options.batch_size, 1,
      batches / 4);
  mixture first{options};
  mixture middle{options};
  mixture last{options};
  mixture all{options};
  std::vector<sample_index> batch(options.batch_size);
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch)
    for (std::uint64_t i = 0; i < batches; ++i) {
      order.indices(options.samples, epoch, position{i * options.batch_size}, batch);
      all.add(batch);
      if (i < ends) first.add(batch);
      if (i >= batches * 3 / 8 && i < batches * 5 / 8) middle.add(batch);
      if (i >= batches - ends) last.add(batch);
    }
  std::printf("| %5llu | %7.1f | %9.2f | %6.2f | %6.2f | %6.2f | %6.2f |\n",
              static_cast<unsigned long long>(chunk), window,
              1 + static_cast<double>(options.batch_size - 1) / window, first.excess(),
              middle.excess(), last.excess(), all.excess());
}

/// Best of some rounds.
template <class Order>
double nanoseconds(const Order& order, std::uint64_t samples, std::size_t run) {
  using clock = std::chrono::steady_clock;
  std::vector<sample_index> out(run);
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto begun = clock::now();
    std::uint64_t total = 0;
    for (std::uint64_t at = 0; total < 500'000;
         total += run, at = (at + 37 * run) % (samples - run))
      order.indices(samples, 1, position{at}, out);
    const std::chrono::duration<double, std::nano> took = clock::now() - begun;
    best = std::min(best, took.count() / static_cast<double>(total));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  options options;
  test::command_line line{"How well shuffle within windows of chunks mixes, and what it costs"};
  line.add_option("--samples", options.samples, "of the dataset").between(10'000U, 1U << 30);
  line.add_option("--classes", options.classes, "that they have").between(2U, 1000U);
  line.add_option("--batch-size", options.batch_size, "samples").between(2U, 4096U);
  line.add_option("--epochs", options.epochs, "to count over").between(1U, 1U << 20);
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;

  std::printf(
      "%llu samples sorted by %llu classes, batches of %llu, %llu epochs: variance of a batch's "
      "make-up, a true "
      "shuffle's being 1\n\n| chunk | W       | predicted | first  | middle | last   | epoch  |\n"
      "| ----- | ------- | --------- | ------ | ------ | ------ | ------ |\n",
      static_cast<unsigned long long>(options.samples),
      static_cast<unsigned long long>(options.classes),
      static_cast<unsigned long long>(options.batch_size),
      static_cast<unsigned long long>(options.epochs));
  for (const std::uint64_t chunk : {16U, 256U}) {
    const std::uint64_t chunks = detail::divide_up(options.samples, chunk);
    for (std::uint64_t window = 1; window < chunks; window *= 4)
      print_quality(options, chunk_order{1, chunk, std::max<std::uint64_t>(1, chunks / window)},
                    chunk, std::max<std::uint64_t>(1, chunks / window));
    print_quality(options, shuffle{.seed = 1}, chunk, 1);
  }

  std::printf(
      "\n| chunk | run  | shuffle, ns | within, ns |\n| ----- | ---- | ----------- | ---------- "
      "|\n");
  for (const std::uint64_t chunk : {16U, 256U})
    for (const std::size_t run : {64U, 256U, 1024U})
      std::printf("| %5llu | %4zu | %11.1f | %10.1f |\n", static_cast<unsigned long long>(chunk),
                  run, nanoseconds(shuffle{.seed = 1}, options.samples, run),
                  nanoseconds(chunk_order{1, chunk, 4}, options.samples, run));
}
