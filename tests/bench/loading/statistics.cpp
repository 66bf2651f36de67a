/// feedline_bench_statistics: the cost of the loaders' own measurements; needs no GPU.
///
/// First the parts: a change of activity, a count, a look at the clock, one sample of CPU times, a
/// snapshot. Then the whole: batches a second of the host device, from memory, with batches of
/// MNIST's size. To compare with a version that measures nothing, build this file in a checkout of
/// it: it leaves out then what is not there.

#include <feedline/feedline.hpp>

#if __has_include(<feedline/statistics/statistics.hpp>)
#define FEEDLINE_BENCH_MEASURES
#include "statistics/cpu_sampler.hpp"
#include "statistics/stage_clock.hpp"
#endif

#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using seconds = std::chrono::duration<double>;

template <class Call>
double nanoseconds_of(std::uint64_t calls, Call call) {
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < calls; ++i) call();
  return 1e9 * seconds{std::chrono::steady_clock::now() - began}.count() /
         static_cast<double>(calls);
}

feedline::loader make_loader(std::uint64_t batch_size, int readers) {
  constexpr std::uint64_t samples = 60'000;
  constexpr std::size_t pixels = std::size_t{28} * 28;
  return {feedline::make_memory_dataset(
              {feedline::own("image", std::vector<std::uint8_t>(samples * pixels), {28, 28}),
               feedline::own("label", std::vector<std::uint8_t>(samples))}),
          feedline::shuffle{.seed = 1},
          feedline::make_host_device(),
          {.batch_size = batch_size, .epochs = 1000, .readers = readers}};
}

double batches_per_second(feedline::loader& loader, std::uint64_t epoch) {
  std::uint64_t batches = 0;
  const auto began = std::chrono::steady_clock::now();
  for (const feedline::batch& each : loader.epoch(epoch)) batches += each.size() != 0 ? 1 : 0;
  return static_cast<double>(batches) / seconds{std::chrono::steady_clock::now() - began}.count();
}

#ifdef FEEDLINE_BENCH_MEASURES
void print_parts(const feedline::loader& loader) {
  constexpr std::uint64_t calls = 1'000'000;
  feedline::detail::stage_clock clock;
  feedline::detail::cpu_sampler sampler;
  const auto print = [](const char* what, double time) {
    std::printf("%-26s %9.1f ns\n", what, time);
  };
  std::chrono::steady_clock::time_point now;
  print("a look at the clock",
        nanoseconds_of(calls, [&] { now = std::chrono::steady_clock::now(); }));
  print("a change of activity", nanoseconds_of(calls, [&] { clock.lap(); }));
  print("a batch counted", nanoseconds_of(calls, [&] {
          clock.count_batches(1);
          clock.count_samples(64);
        }));
  print("a request's CPU times", nanoseconds_of(1000, [&] {
          sampler.begin(now += feedline::detail::cpu_sampler::interval);
          sampler.end();
        }));
  print("a snapshot", nanoseconds_of(10'000, [&] { (void)loader.statistics(); }));
}
#endif

}  // namespace

int main(int argc, char** argv) {
  feedline::test::command_line line{"What it costs that loaders measure themselves."};
  std::uint64_t batch_size = 64;
  int readers = 1;
  std::uint64_t epochs = 20;
  line.add_option("--batch", batch_size, "samples a batch");
  line.add_option("--readers", readers, "reader threads");
  line.add_option("--epochs", epochs, "of 60,000 samples, of which the median is printed");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;

  feedline::loader loader = make_loader(batch_size, readers);
#ifdef FEEDLINE_BENCH_MEASURES
  print_parts(loader);
#endif
  std::vector<double> rates;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    rates.push_back(batches_per_second(loader, epoch));
  std::sort(rates.begin(), rates.end());
  std::printf("%llu samples a batch, %d readers: %.0f batches/s\n",
              static_cast<unsigned long long>(batch_size), readers, rates[rates.size() / 2]);
}
