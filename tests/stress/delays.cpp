/// Random delays at every stage: before a sample's number is asked for, in reads, in the device's
/// calls, in a user's function, at the consumer, and before a batch ends on another thread. Every
/// sample of every batch is checked. Data races show under ThreadSanitizer.
///
///     feedline_stress_delays --seconds 4                            # as long as asked
///     feedline_stress_delays --batches 10000000 --processes 16      # until this many batches came
///     feedline_stress_delays --seed 1234 --rounds 1                 # one round again

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "stress/slow_stages.hpp"
#include "support/command_line.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

struct round_plan {
  std::uint64_t seed;
  std::uint64_t rare;
  std::uint64_t samples;
  std::uint64_t batch_size;
  std::uint64_t epochs;
  data_path through;
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
  plan.through = data_paths_without_decoder()[between(0, data_paths_without_decoder().size() - 1)];
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
std::uint64_t run(const round_plan& plan, delay_counts& counts) {
  delays delay{plan.seed, plan.rare, counts};
  const auto read = [&](auto) { delay(late::read); };
  const auto rows = make_identity_rows(plan.samples, 9);
  const bool tells_rows = plan.through == data_path::gather || plan.seed / 16 % 4 == 0;
  const auto data = tells_rows ? gated_rows(rows, read) : gated(rows, read);
  const slow_sampler order{&delay, {.seed = plan.seed}};
  const device_ptr device = plan.through == data_path::in_place
                                ? make_host_device()
                                : std::make_shared<slow_device>(make_host_device(), delay);
  loader_options options{
      .batch_size = plan.batch_size, .epochs = plan.epochs, .readers = plan.readers};
  options = on_data_path(plan.through, *data, options);
  if (plan.has_function)
    options.expert.batch_transform = batch_transform{
        .fields = {{"id", element_type::u64, {}}}, .run = [&](const batch_function_call& call) {
          delay(late::function);
          std::memcpy(call.out[0].data(), call.in[0].bytes().data(), call.out[0].size());
        }};
  loader loader{data, order, device, options};
  std::optional<late_end> ender;
  if (plan.ends_late) ender.emplace(delay);
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
      delay(late::consumer);
      if (ender) ender->give(std::move(*taken));
    }
    if (next != plan.samples) throw std::runtime_error{"an epoch that is not whole"};
  }
  return batches;
}

constexpr std::size_t max_processes = 256;

/// Counts of all processes, in memory that they share.
struct tally {
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> loaders{0};
  delay_counts delayed{};
  std::array<std::atomic<std::uint64_t>, max_processes> seeds{};  ///< at which each one is
};

struct settings {
  double seconds = 2;
  std::uint64_t batches = 0;
  std::uint64_t seed = std::random_device{}();
  std::uint64_t rounds = UINT64_MAX;
  std::size_t processes = 1;
};

/// Seeds of the n-th process begin here.
std::uint64_t first_seed(const settings& asked, std::size_t process) {
  return asked.seed + process * 1'000'000'000;
}

/// The rounds of one process. @return Its exit code.
int run_rounds(const settings& asked, std::size_t process, tally& done) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::duration<double>{asked.seconds};
  for (std::uint64_t i = 0; i < asked.rounds && (done.batches < asked.batches ||
                                                 std::chrono::steady_clock::now() < until);
       ++i) {
    const std::uint64_t seed = first_seed(asked, process) + i;
    done.seeds[process] = seed;
    ::alarm(300);  // a round that hangs is ended by a signal
    try {
      delay_counts delayed{};
      done.batches += run(draw(seed), delayed);
      ++done.loaders;
      add(delayed, done.delayed);
    } catch (const std::exception& failure) {
      std::printf("delays: FAILED: %s (again: --seed %llu --rounds 1)\n", failure.what(),
                  static_cast<unsigned long long>(seed));
      return 1;
    }
  }
  return 0;
}

/// The same by several processes. @return How many failed.
int run_processes(const settings& asked, tally& done) {
  std::vector<pid_t> children;
  for (std::size_t process = 0; process < asked.processes; ++process) {
    const pid_t child = ::fork();  // no thread was started yet
    if (child == 0) std::exit(run_rounds(asked, process, done));
    if (child < 0) throw std::runtime_error{"no process can be started"};
    children.push_back(child);
  }
  int failed = 0;
  for (std::size_t process = 0; process < asked.processes; ++process) {
    int status = 0;
    if (::waitpid(children[process], &status, 0) == children[process] && status == 0) continue;
    ++failed;
    std::printf("delays: FAILED: process %zu ended by %s %d (again: --seed %llu --rounds 1)\n",
                process, WIFSIGNALED(status) ? "signal" : "exit code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                static_cast<unsigned long long>(done.seeds[process].load()));
  }
  return failed;
}

}  // namespace

int main(int argc, char* argv[]) {
  command_line line{"Loaders with random delays at every stage"};
  settings asked;
  line.add_option("--seconds", asked.seconds, "how long to go on, at least");
  line.add_option("--batches", asked.batches, "how many batches to take in all, at least");
  line.add_option("--seed", asked.seed, "seed of the first round; each next one's is one more");
  line.add_option("--rounds", asked.rounds, "rounds of a process, at most");
  line.add_option("--processes", asked.processes, "at once; each next one's seeds are 10^9 higher")
      .between(std::size_t{1}, max_processes);
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;

  void* const shared =
      ::mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc{};
  auto& done = *new (shared) tally;  // lives as long as the process

  const int failed = asked.processes == 1 ? run_rounds(asked, 0, done) : run_processes(asked, done);
  std::printf(
      "delays: %llu batches of %llu loaders in %zu processes %s, from seed %llu\n"
      "delays: delayed calls: %s\n",
      static_cast<unsigned long long>(done.batches.load()),
      static_cast<unsigned long long>(done.loaders.load()), asked.processes,
      failed == 0 ? "passed" : "came before a failure", static_cast<unsigned long long>(asked.seed),
      to_string(done.delayed).c_str());
  return failed == 0 ? 0 : 1;
}
