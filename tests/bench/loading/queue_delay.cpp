/// feedline_bench_queue_delay: the delay that a queue adds to requests, as of an inference server.
///
///     feedline_bench_queue_delay [--rate 10000] [--producers 4] [--bytes 3072] [--gpu]
///
/// Method: threads put samples at random times, so that there are `--rate` of them a second
/// (a Poisson process), and a loop takes batches and does nothing with them. The delay of a sample
/// is the time from the call of `put` to the return of `next()`, with a GPU until the batch's copy
/// has ended. With a max_delay a batch waits for more samples on purpose: a sample that begins a
/// batch waits that long, the others less. Each row is one run. Samples are numbered, and a run
/// fails if one is lost or comes twice.

#include <feedline/feedline.hpp>

#include "bench/processor.hpp"
#include "bench/support/destination.hpp"
#include "support/command_line.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace feedline;

namespace {

using ticks = std::chrono::steady_clock;

struct settings {
  double rate = 10'000;
  int producers = 4;
  std::uint64_t bytes = 3072;
  std::uint64_t batch = 64;
  double seconds = 5;
  std::vector<int> max_delays{0, 100, 250, 500, 1000};
  bool gpu = false;
};

std::uint64_t now() {
  return static_cast<std::uint64_t>(ticks::now().time_since_epoch().count());
}

/// Puts each `producers`-th sample of a run, from `first` on.
void produce(queue_dataset& queue, const settings& how, std::uint64_t first, std::uint64_t count) {
  // A slack of a nanosecond, because the usual one is half of the time between two samples.
  (void)::prctl(PR_SET_TIMERSLACK, 1);
  std::mt19937_64 random{first + 1};
  std::exponential_distribution<double> pause{how.rate / how.producers};
  const std::vector<std::byte> row(how.bytes, std::byte(first));
  auto due = ticks::now();
  for (std::uint64_t id = first; id < count; id += static_cast<std::uint64_t>(how.producers)) {
    due +=
        std::chrono::duration_cast<ticks::duration>(std::chrono::duration<double>{pause(random)});
    std::this_thread::sleep_until(due);
    const std::uint64_t put_at = now();
    const std::array<std::span<const std::byte>, 3> values{
        std::as_bytes(std::span{&id, 1}), std::as_bytes(std::span{&put_at, 1}), row};
    if (queue.put(values) != put_result::accepted) return;
  }
}

void measure(const settings& how, int max_delay) {
  const auto count = static_cast<std::uint64_t>(how.rate * how.seconds);
  const auto queue = make_queue_dataset({{"id", element_type::u64, {}},
                                         {"put_at", element_type::u64, {}},
                                         {"row", element_type::u8, {how.bytes}}},
                                        {.max_delay = std::chrono::microseconds{max_delay}});
  const bench::destination to{how.gpu};
  loader from{queue,
              sequential{},
              to.device(),
              {.batch_size = how.batch, .keep_on_host = {{"id"}, {"put_at"}}}};
  std::vector<int> seen(count);
  std::vector<double> delays;
  delays.reserve(count);
  std::uint64_t batches = 0;
  std::vector<std::jthread> producers;
  for (int i = 0; i < how.producers; ++i)
    producers.emplace_back([&, i] { produce(*queue, how, static_cast<std::uint64_t>(i), count); });
  std::jthread closing{[&] {
    producers.clear();
    queue->close();
  }};
  const auto begun = ticks::now();
  for (batch& each : from.epoch(0, to.stream())) {
    to.wait();
    const std::uint64_t here = now();
    ++batches;
    const auto ids = each.on_host("id").values<std::uint64_t>();
    const auto puts = each.on_host("put_at").values<std::uint64_t>();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ++seen.at(ids[i]);
      delays.push_back(static_cast<double>(here - puts[i]) / 1e3);
    }
  }
  const std::chrono::duration<double> took = ticks::now() - begun;
  for (const int times : seen)
    if (times != 1)
      throw std::runtime_error{"a sample was delivered " + std::to_string(times) + " times"};
  std::ranges::sort(delays);
  double sum = 0;
  for (const double each : delays) sum += each;
  const auto at = [&](double share) {
    return delays[static_cast<std::size_t>(share * static_cast<double>(delays.size() - 1))];
  };
  std::printf("| %d | %.0f | %.1f | %.0f | %.0f | %.0f | %.0f |\n", max_delay,
              static_cast<double>(count) / took.count(),
              static_cast<double>(count) / static_cast<double>(batches),
              sum / static_cast<double>(delays.size()), at(0.5), at(0.99), delays.back());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  test::command_line line{"The delay that a queue adds to requests"};
  line.add_option("--rate", how.rate, "samples a second, of all producers").positive();
  line.add_option("--producers", how.producers, "threads that put samples").between(1, 1024);
  line.add_option("--bytes", how.bytes, "of a sample").positive();
  line.add_option("--batch", how.batch, "samples that fill a batch").positive();
  line.add_option("--seconds", how.seconds, "of a run").positive();
  line.add_option("--max-delays", how.max_delays, "microseconds of max_delay, a run each");
  line.add_flag("--gpu", how.gpu, "copy batches to GPU 0");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    std::printf("machine: %s, %u hardware threads\n", bench::processor().c_str(),
                std::thread::hardware_concurrency());
    std::printf(
        "method: %d threads put %.0f samples of %llu bytes a second at random times, batches of at "
        "most %llu, %s; microseconds from put to next\n",
        how.producers, how.rate, static_cast<unsigned long long>(how.bytes),
        static_cast<unsigned long long>(how.batch), how.gpu ? "copied to GPU 0" : "host device");
    std::printf(
        "| max_delay | samples/s | samples a batch | mean | 50 %% | 99 %% | most |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (const int each : how.max_delays) measure(how, each);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "feedline_bench_queue_delay: %s\n", failure.what());
    return 1;
  }
}
