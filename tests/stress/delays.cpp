/// Random delays at every stage: before a sample's number is asked for, in reads, in the device's
/// calls, in a user's function, at the consumer, and before a batch ends on another thread. Every
/// sample of every batch is checked. Data races show under ThreadSanitizer.
///
///     feedline_stress_delays --seconds 4               # as long as asked
///     feedline_stress_delays --batches 10000000        # until so many batches came
///     feedline_stress_delays --seed 1234 --rounds 1    # one round again

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/ways.hpp"
#include "support/devices/wrapped_device.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Delays, of lengths that one seed draws. Any thread.
class delays {
 public:
  /// @param rare One call in so many is delayed.
  delays(std::uint64_t seed, std::uint64_t rare) : state_{seed}, rare_{rare} {}

  void operator()() {
    const std::uint64_t drawn = draw();
    if (drawn % rare_ != 0) return;
    const std::uint64_t length = drawn / rare_ % 64;
    if (length == 0) return std::this_thread::sleep_for(std::chrono::microseconds{50});
    for (std::uint64_t i = 0; i < length % 8; ++i) std::this_thread::yield();
  }

  [[nodiscard]] bool one_in(std::uint64_t n) { return draw() % n == 0; }

 private:
  /// splitmix64, over a count that all threads share.
  std::uint64_t draw() {
    std::uint64_t bits = state_.fetch_add(0x9e37'79b9'7f4a'7c15U, std::memory_order_relaxed);
    bits = (bits ^ bits >> 30U) * 0xbf58'476d'1ce4'e5b9U;
    bits = (bits ^ bits >> 27U) * 0x94d0'49bb'1331'11ebU;
    return bits ^ bits >> 31U;
  }

  std::atomic<std::uint64_t> state_;
  std::uint64_t rare_;
};

/// The host's memory as that of a device with copies; each call may take a while.
class slow_device final : public wrapped_device {
 public:
  explicit slow_device(delays& by) : wrapped_device{make_host_device()}, by_{by} {}

  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = "slow", .reads_staging = false};
  }
  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    by_();
    wrapped_device::copy(to, from, bytes, stream);
  }
  void assemble(const assembly& work, stream_ref stream) override {
    by_();
    wrapped_device::assemble(work, stream);
  }
  void record(event_handle event, stream_ref stream) override {
    by_();
    wrapped_device::record(event, stream);
  }
  void wait(stream_ref stream, event_handle event) override {
    by_();
    wrapped_device::wait(stream, event);
  }
  /// A copy seems to last a while.
  [[nodiscard]] bool is_done(event_handle event) override {
    by_();
    return !by_.one_in(32) && wrapped_device::is_done(event);
  }

 private:
  delays& by_;
};

/// `shuffle`, late.
struct slow_sampler {
  delays* by;
  shuffle order;

  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    (*by)();
    order.indices(samples, epoch, first, out);
  }
};

/// Ends batches on a thread of its own, some time after it was given them.
class late_end {
 public:
  explicit late_end(delays& by) : by_{by}, thread_{[this] { run(); }} {}
  late_end(const late_end&) = delete;
  late_end& operator=(const late_end&) = delete;
  ~late_end() {
    {
      const std::scoped_lock lock{mutex_};
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  /// Waits while another batch is here.
  void give(batch taken) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !held_; });
    held_.emplace(std::move(taken));
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return held_ || ending_; });
      if (!held_) return;
      std::optional<batch> ended{std::exchange(held_, std::nullopt)};
      lock.unlock();
      changed_.notify_all();
      by_();
      ended.reset();
      lock.lock();
    }
  }

  delays& by_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<batch> held_;
  bool ending_ = false;
  std::thread thread_;
};

struct round_plan {
  std::uint64_t seed;
  std::uint64_t rare;
  std::uint64_t samples;
  std::uint64_t batch_size;
  std::uint64_t epochs;
  way through;
  int readers;
  bool has_function;
  bool ends_late;
};

round_plan draw(std::uint64_t seed) {
  std::mt19937_64 engine{seed};
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>{low, high}(engine);
  };
  round_plan plan{};
  plan.seed = seed;
  plan.rare = std::uint64_t{2} << between(0, 9);
  plan.batch_size = between(1, 4);
  plan.samples = between(1, 20'000);
  plan.epochs = between(1, 6);
  plan.through = all_ways()[between(0, all_ways().size() - 1)];
  plan.readers = static_cast<int>(between(0, 5));
  plan.has_function = between(0, 3) == 0;
  plan.ends_late = between(0, 1) == 0;
  return plan;
}

void check(const batch& taken, const round_plan& plan, const std::vector<sample_index>& expected) {
  const tensor_view ids = taken["id"];
  const auto number = ids.data<std::uint64_t>();
  for (std::uint64_t i = 0; i < taken.size(); ++i) {
    if (number[i] != expected[i].value ||
        (!plan.has_function && !is_identity(number[i], ids.bytes().subspan(i * 8, 8),
                                            taken["row"].bytes().subspan(i * 9, 9)))) {
      throw std::runtime_error{"a wrong sample in batch " + std::to_string(taken.index()) +
                               " of epoch " + std::to_string(taken.epoch())};
    }
  }
}

/// A loader from its making to its end. @return Batches that came.
std::uint64_t run(const round_plan& plan) {
  delays delay{plan.seed, plan.rare};
  const auto data = gated(make_identity_rows(plan.samples, 9), [&](auto) { delay(); });
  const slow_sampler order{&delay, {.seed = plan.seed}};
  const device_ptr device =
      plan.through == way::in_place ? make_host_device() : std::make_shared<slow_device>(delay);
  loader_options options{
      .batch_size = plan.batch_size, .readers = plan.readers, .epochs = plan.epochs};
  options = on_way(plan.through, *data, options);
  if (plan.has_function)
    options.batch_transform = batch_transform{
        .fields = {{"id", element_type::u64, {}}}, .run = [&](const batch_function_call& call) {
          delay();
          std::memcpy(call.out[0].data(), call.in[0].bytes().data(), call.out[0].size());
        }};
  loader loader{data, order, device, options};
  std::optional<late_end> late;
  if (plan.ends_late) late.emplace(delay);
  std::uint64_t batches = 0;
  std::vector<sample_index> expected;
  for (std::uint64_t epoch = 0; epoch < plan.epochs; ++epoch) {
    auto range = loader.epoch(epoch);
    std::uint64_t next = 0;
    while (auto taken = range.next()) {
      expected.resize(taken->size());
      order.order.indices(plan.samples, epoch, position{next}, expected);
      check(*taken, plan, expected);
      next += taken->size();
      ++batches;
      delay();
      if (late) late->give(std::move(*taken));
    }
    if (next != plan.samples) throw std::runtime_error{"an epoch that is not whole"};
  }
  return batches;
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app{"Loaders with random delays at every stage"};
  double seconds = 2;
  std::uint64_t least = 0;
  std::uint64_t seed = std::random_device{}();
  std::uint64_t rounds = UINT64_MAX;
  app.add_option("--seconds", seconds, "how long to go on, at least")->capture_default_str();
  app.add_option("--batches", least, "how many batches to take, at least");
  app.add_option("--seed", seed, "seed of the first round; each next one's is one more");
  app.add_option("--rounds", rounds, "rounds at most");
  CLI11_PARSE(app, argc, argv);

  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>{seconds};
  std::uint64_t batches = 0;
  std::uint64_t done = 0;
  for (; done < rounds && (batches < least || std::chrono::steady_clock::now() < until); ++done) {
    ::alarm(300);  // a round that hangs is ended by a signal
    try {
      batches += run(draw(seed + done));
    } catch (const std::exception& failure) {
      std::printf("delays: FAILED: %s (again: --seed %llu --rounds 1)\n", failure.what(),
                  static_cast<unsigned long long>(seed + done));
      return 1;
    }
  }
  std::printf("delays: %llu batches of %llu loaders passed, from seed %llu\n",
              static_cast<unsigned long long>(batches), static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(seed));
  return 0;
}
