/// Time that a loader takes to find its position: `feedline_bench_seek [--places 2000]`. It needs
/// no GPU.
///
/// Method: rank 4095 of 4096 seeks to random batches of random epochs, in datasets of a million and
/// a billion samples of 8 bytes, which are made when they are read. `state` is the first call of
/// `state()`, which takes the order's fingerprint; `seek` is one `seek()`; `batch` is from before
/// `epoch()` until its first batch is there, of 16 samples (million) or 256 (billion), read by the
/// calling thread. Median and 99th percentile of all positions, in microseconds: the largest ones
/// are those at which the system ran something else.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/processor.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;

namespace {

constexpr std::uint64_t chunk = 1000;

/// Samples that spell their number, declared to lie in chunks.
class made_up final : public dataset {
 public:
  explicit made_up(std::uint64_t size) : size_{size} {}
  std::uint64_t size() const override { return size_; }
  std::vector<field> fields() const override { return {{"id", element_type::u64, {}}}; }
  chunking chunks() const override {
    return {.samples = chunk, .bytes = chunk * 8, .kept = size_ / chunk};
  }
  read_concurrency concurrency() const override { return read_concurrency::parallel; }
  void do_read(const read_request& request) const override {
    std::memcpy(request.out[0].data(), request.samples.data(), request.samples.size_bytes());
  }

 private:
  std::uint64_t size_;
};

/// @return Microseconds.
template <class Work>
double time_of(const Work& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>{std::chrono::steady_clock::now() - begun}
      .count();
}

std::string median_and_99(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  char text[64];
  std::snprintf(text, sizeof text, "%9.1f %9.1f", of[of.size() / 2], of[of.size() * 99 / 100]);
  return text;
}

void measure(std::uint64_t samples, const std::string& name, const sampler& order, int places) {
  loader loader{std::make_shared<const made_up>(samples),
                order,
                make_host_device(),
                {.batch_size = 256 * 4096 < samples ? 256U : 16U,
                 .shard = {.rank = 4095, .world = 4096},
                 .readers = no_readers,
                 .expert = {.batches_per_slot = 1}}};
  loader_state state;
  const double first = time_of([&] { state = loader.state(); });
  std::vector<double> seeks;
  std::vector<double> batches;
  std::mt19937_64 engine{1};
  for (int i = 0; i < places; ++i) {
    state.epoch = engine() % 1000;
    state.batch = engine() % loader.plan().batches_per_epoch;
    seeks.push_back(time_of([&] { loader.seek(state); }));
    batches.push_back(time_of([&] {
      auto range = loader.epoch(state.epoch);
      if (range.next().value().index() != state.batch) throw std::runtime_error{"another batch"};
    }));
  }
  std::printf("%13llu  %-28s %9.1f %s %s\n", static_cast<unsigned long long>(samples), name.c_str(),
              first, median_and_99(std::move(seeks)).c_str(),
              median_and_99(std::move(batches)).c_str());
  std::fflush(stdout);
}

void run(int places) {
  std::printf("%s, %u hardware threads; rank 4095 of 4096; %d places; microseconds\n",
              bench::processor().c_str(), std::thread::hardware_concurrency(), places);
  std::printf("%13s  %-28s %9s %19s %19s\n", "", "", "state", "seek", "batch");
  std::printf("%13s  %-28s %9s %9s %9s %9s %9s\n", "samples", "order", "first", "median", "99 %",
              "median", "99 %");
  for (const std::uint64_t samples : {std::uint64_t{1'000'000}, std::uint64_t{1'000'000'000}}) {
    measure(samples, "sequential", sequential{}, places);
    measure(samples, "shuffle", shuffle{.seed = 1}, places);
    measure(samples, "shuffle within chunks, lanes",
            shuffle{.seed = 1, .within = chunks(4096), .lanes = 64}, places);
    measure(samples, "mixture of three parts",
            mixture{{samples / 2, samples / 4, samples - samples / 2 - samples / 4},
                    {1, 2, 3},
                    {.seed = 1}},
            places);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  int places = 2000;
  test::command_line line{"How long a loader takes to find its place"};
  line.add_option("--places", places, "to seek to").between(1, 1'000'000);
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    run(places);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedline_bench_seek: %s\n", error.what());
    return 1;
  }
}
