/// Randomized stress of whole loaders: every round draws readers, depths, sizes, devices,
/// placements, budgets, slow and fast stages, held batches, early exits, failures and stops from
/// one seed, and checks every sample of every batch that comes. A round that hangs is ended by a
/// watchdog.
///
///     feedline_stress --seconds 30            # as long as asked, else FEEDLINE_STRESS_SECONDS
///     feedline_stress --seed 1234 --rounds 1  # one round again

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/recorder.hpp"
#include "support/command_line.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/scripted_device.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

/// The settings of one round, drawn from its seed.
struct round_plan {
  std::uint64_t seed;
  std::uint64_t samples;
  std::size_t row_bytes;
  loader_options options;
  data_path through;
  std::optional<std::size_t> budget;  ///< placement is automatic, within it
  std::uint64_t reader_pause;         ///< yields before a read, at most
  std::uint64_t consumer_pause;       ///< yields a batch, at most
  std::uint64_t held_batches;
  std::optional<std::uint64_t> failing_sample;
  bool tells_rows = false;                  ///< where they lie: a stream does not read them then
  std::optional<std::uint64_t> stop_after;  ///< batches
  std::uint64_t epochs;
  std::uint64_t leave_early;  ///< one epoch in this many is left early; 0: none
};

class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_{seed} {}
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>{low, high}(engine_);
  }
  bool one_in(std::uint64_t n) { return between(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

round_plan draw(std::uint64_t seed) {
  random_source random{seed};
  round_plan plan{};
  plan.seed = seed;
  plan.samples = random.one_in(4) ? random.between(1, 20) : random.between(20, 3000);
  plan.row_bytes = random.one_in(3) ? random.between(1, 9) : random.between(10, 400);
  plan.options.batch_size = random.between(1, std::min<std::uint64_t>(plan.samples, 64));
  plan.options.partial_batch = random.one_in(3) ? partial_batch::drop : partial_batch::keep;
  plan.options.readers = static_cast<int>(random.between(0, 6));
  if (plan.options.readers != 0 && random.one_in(3))  // some readers rest
    plan.options.expert.tuning.max_readers =
        plan.options.readers + static_cast<int>(random.between(1, 6));
  plan.options.epochs = random.one_in(2) ? 0 : random.between(1, 6);
  plan.options.expert.batches_per_slot = random.between(0, 6);
  plan.options.expert.staging_slots = random.between(2, 6);
  plan.options.expert.device_slots = random.between(2, 5);
  plan.options.expert.request_bytes = random.one_in(3) ? 0 : random.between(1, 20'000);
  plan.options.expert.piece_bytes = random.one_in(2) ? 0 : random.between(1, 40 * plan.row_bytes);
  plan.through = random.one_in(4)
                     ? data_path::in_place
                     : all_data_paths()[random.between(1, all_data_paths().size() - 1)];
  if (random.one_in(6))
    plan.budget = random.between(0, 2 * (plan.row_bytes + 9) * plan.samples + 2'000);
  plan.reader_pause = random.one_in(2) ? 0 : random.between(1, 20);
  plan.consumer_pause = random.one_in(2) ? 0 : random.between(1, 20);
  // Fewer slots may be held than the consumer's ring has, or it would wait for itself.
  const std::size_t ring = plan.through == data_path::in_place ? plan.options.expert.staging_slots
                                                               : plan.options.expert.device_slots;
  plan.held_batches = random.one_in(2) ? 0 : random.between(0, ring - 2);
  if (random.one_in(3)) {  // or the loader allocates for them
    plan.options.expert.on_held = on_held::allocate;
    plan.options.expert.max_held_bytes = std::size_t{1} << 30;
    plan.options.expert.held_warning = [](const std::string&) {};
    plan.held_batches = random.between(0, 40);
  }
  plan.epochs = random.between(1, 4);
  plan.tells_rows = plan.through == data_path::gather || random.one_in(4);
  if (random.one_in(5)) plan.failing_sample = random.between(0, plan.samples - 1);
  if (random.one_in(6)) plan.stop_after = random.between(0, 50);
  plan.leave_early = random.one_in(3) ? 2 : 0;
  return plan;
}

[[noreturn]] void fail(const round_plan& plan, const std::string& what) {
  throw std::runtime_error{"seed " + std::to_string(plan.seed) + ": " + what};
}

/// Checks all that was seen against the sampler's arithmetic.
void check(const round_plan& plan, const std::vector<seen_batch>& seen) {
  const shuffle order{.seed = plan.seed};
  std::vector<sample_index> expected;
  for (const auto& batch : seen) {
    if (!batch.intact) fail(plan, "a torn or stale row in batch " + std::to_string(batch.index));
    expected.resize(batch.samples.size());
    order.indices(plan.samples, batch.epoch, position{batch.index * plan.options.batch_size},
                  expected);
    const bool equal =
        std::equal(expected.begin(), expected.end(), batch.samples.begin(), batch.samples.end(),
                   [](sample_index want, std::uint64_t have) { return want.value == have; });
    if (!equal) fail(plan, "wrong samples in batch " + std::to_string(batch.index));
  }
}

void pause_for(std::uint64_t yields) {
  for (std::uint64_t i = 0; i < yields; ++i) std::this_thread::yield();
}

/// Consumes one epoch; how many batches came.
std::uint64_t consume(const round_plan& plan, random_source& random, epoch_range range,
                      recorder& record, std::uint64_t& total, loader& loader) {
  std::optional<std::jthread> stopper;  // while batches are still taken
  const bool leave = plan.leave_early != 0 && random.one_in(plan.leave_early);
  const std::uint64_t last = leave ? random.between(0, 20) : UINT64_MAX;
  std::deque<batch> held;
  std::uint64_t count = 0;
  while (count < last) {
    auto batch = range.next();
    if (!batch) break;
    if (batch->index() != count) fail(plan, "a batch out of order");
    ++count;
    record(*batch);
    pause_for(plan.consumer_pause == 0 ? 0 : random.between(0, plan.consumer_pause));
    if (plan.held_batches > 0) {
      held.push_back(std::move(*batch));
      if (held.size() > plan.held_batches) held.pop_front();
      if (!held.empty() && random.one_in(8))  // ended before older ones
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(random.between(0, held.size() - 1)));
    }
    if (plan.stop_after && ++total == *plan.stop_after)
      stopper.emplace([&loader] { loader.stop(); });
  }
  return leave ? UINT64_MAX : count;
}

void run(const round_plan& plan) {
  random_source random{plan.seed + 1};
  const path_setup by{plan.through};
  const scripted_device& device = *by.on.device;
  recorder record{by.looks()};
  std::atomic<std::uint64_t> reads{0};
  const auto read = [&](std::span<const sample_index> run) {
    if (plan.reader_pause != 0) pause_for((reads++ * 7919) % (plan.reader_pause + 1));
    for (const auto sample : run) {
      if (sample.value == plan.failing_sample) throw dataset_error{{}, "told to fail"};
    }
  };
  const auto rows = make_identity_rows(plan.samples, plan.row_bytes);
  const auto data = plan.tells_rows ? gated_rows(rows, read) : gated(rows, read);
  bool failed = false;
  bool stopped = false;
  {
    loader_options options = plan.options;
    if (plan.budget) {
      options.memory.cache = *plan.budget;
    } else {
      options = on_data_path(plan.through, *data, options);
    }
    const sampler order = shuffle{.seed = plan.seed};
    loader loader{plan.budget ? data : stored_for(plan.through, data, order), order, by.device,
                  options};
    std::uint64_t total = 0;
    try {
      for (std::uint64_t i = 0; i < plan.epochs; ++i) {
        const std::uint64_t epoch = random.one_in(4) ? random.between(0, 9) : i;
        const auto count =
            consume(plan, random, loader.epoch(epoch, by.stream), record, total, loader);
        stopped = plan.stop_after && total >= *plan.stop_after && *plan.stop_after > 0;
        if (!stopped && count != UINT64_MAX && count != loader.plan().batches_per_epoch) {
          fail(plan, "an epoch of " + std::to_string(count) + " batches");
        }
      }
    } catch (const stage_error&) {
      failed = true;
    }
  }
  if (failed && !plan.failing_sample) fail(plan, "an error that was not asked for");
  check(plan, record.seen());
  if (device.allocated_bytes(memory_kind::staging) != 0) fail(plan, "staging memory was kept");
  if (device.allocated_bytes(memory_kind::device) != 0) fail(plan, "device memory was kept");
  if (device.mappings() != 0) fail(plan, "the dataset's memory stayed mapped");
  if (device.freed_in_use() != 0) fail(plan, "memory was freed under work");
}

/// Ends the program if it is not reset for a long while.
class watchdog {
 public:
  watchdog() : thread_{[this] { watch(); }} {}
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() {
    stroke(0, true);
    thread_.join();
  }
  void stroke(std::uint64_t seed, bool end = false) {
    const std::scoped_lock lock{mutex_};
    seed_ = seed;
    ++strokes_;
    ended_ = end;
    stroked_.notify_all();
  }

 private:
  void watch() {
    std::unique_lock lock{mutex_};
    while (!ended_) {
      const auto before = strokes_;
      if (!stroked_.wait_for(lock, std::chrono::seconds{120}, [&] { return strokes_ != before; })) {
        std::printf("stress: seed %llu hangs\n", static_cast<unsigned long long>(seed_));
        std::fflush(stdout);
        std::abort();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable stroked_;
  std::uint64_t seed_ = 0;
  std::uint64_t strokes_ = 0;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace

int main(int argc, char* argv[]) {
  command_line line{"Randomized stress of feedline's pipeline"};
  double seconds = 2;
  std::uint64_t seed = std::random_device{}();
  std::uint64_t rounds = UINT64_MAX;
  line.add_option("--seconds", seconds, "how long to go on")
      .from_environment("FEEDLINE_STRESS_SECONDS");
  line.add_option("--seed", seed, "seed of the first round; each next one's is one more");
  line.add_option("--rounds", rounds, "rounds at most");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;

  spdlog::set_level(spdlog::level::warn);
  std::printf("stress: from seed %llu, for %.0f s\n", static_cast<unsigned long long>(seed),
              seconds);
  std::fflush(stdout);
  watchdog dog;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>{seconds};
  std::uint64_t done = 0;
  try {
    for (; done < rounds && std::chrono::steady_clock::now() < end; ++done) {
      dog.stroke(seed + done);
      run(draw(seed + done));
    }
  } catch (const std::exception& failure) {
    std::printf("stress: FAILED: %s (again: --seed %llu --rounds 1)\n", failure.what(),
                static_cast<unsigned long long>(seed + done));
    return 1;
  }
  std::printf("stress: %llu rounds passed\n", static_cast<unsigned long long>(done));
  return 0;
}
