#include "bench/mlperf/accelerators.hpp"

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/delivered.hpp"
#include "bench/support/destination.hpp"

#include <sys/prctl.h>
#include <system_error>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <sched.h>

namespace feedline::bench {
namespace {

using clock = std::chrono::steady_clock;

double seconds_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double>{to - from}.count();
}

/// Batches of pass after pass over the samples.
class endless_batches {
 public:
  endless_batches(loader& from, stream_ref stream) : from_{from}, stream_{stream} {}

  /// Takes the next batch; it is held until the next call.
  void take() {
    while (!pass_ || !pass_->next()) pass_.emplace(from_.epoch(number_++, stream_));
  }

 private:
  loader& from_;
  stream_ref stream_;
  std::uint64_t number_ = 0;
  std::optional<epoch_range> pass_;
};

/// From now on the calling thread, and those that it starts, are scheduled by a policy.
void schedule_by(thread_policy policy) {
  const int number = policy == thread_policy::batch  ? SCHED_BATCH
                     : policy == thread_policy::idle ? SCHED_IDLE
                                                     : SCHED_OTHER;
  const sched_param priority{};
  if (::sched_setscheduler(0, number, &priority) != 0)
    throw std::system_error{errno, std::system_category(), "--policy"};
}

/// The moments of one accelerator's step.
struct step_times {
  clock::time_point begun, taken, arrived, computed;
};

/// Shared by the threads of a run.
struct training {
  training(const workload& what, const dataset_ptr& from, const emulation& with, bool shards)
      : of{what},
        data{from},
        how{with},
        is_sharded{shards},
        all{with.accelerators},
        steps(static_cast<std::size_t>(with.accelerators)) {}

  const workload& of;
  const dataset_ptr& data;
  const emulation& how;
  bool is_sharded;
  std::barrier<> all;
  std::mutex mutex;
  std::exception_ptr failure;
  double utilisations = 0;
  double longest = 0;
  double cpu = 0;
  std::vector<std::vector<step_times>> steps;  ///< one list an accelerator
};

step_parts parts_of(const training& in) {
  step_parts sum;
  for (std::uint64_t step = 1; step < in.how.steps; ++step) {
    clock::time_point released;
    for (const auto& steps : in.steps) released = std::max(released, steps[step - 1].computed);
    step_parts most;
    for (const auto& steps : in.steps) {
      const step_times& at = steps[step];
      most.start = std::max(most.start, seconds_between(released, at.begun));
      most.batch = std::max(most.batch, seconds_between(at.begun, at.taken));
      most.stream = std::max(most.stream, seconds_between(at.taken, at.arrived));
      most.compute = std::max(most.compute,
                              seconds_between(at.arrived, at.computed) - in.of.computation_seconds);
    }
    sum.start += most.start;
    sum.batch += most.batch;
    sum.stream += most.stream;
    sum.compute += most.compute;
  }
  const double steps = std::max(static_cast<double>(in.how.steps) - 1, 1.0);
  return {sum.start / steps, sum.batch / steps, sum.stream / steps, sum.compute / steps};
}

void train(training& in, int rank) {
  const emulation& how = in.how;
  const destination to{how.on_gpu};
  loader_options options{.batch_size = in.of.batch_size,
                         .partial_batch = partial_batch::drop,
                         .epochs = how.steps + 1,  // so that each pass is read ahead
                         .readers = how.readers,
                         .decode_on = how.decodes_on_gpu ? decode_on::device : decode_on::cpu};
  options.expert.request_bytes = how.request_bytes;
  shuffle order{.seed = in.is_sharded ? 0 : static_cast<std::uint64_t>(rank)};
  if (how.chunk_window != 0) order.within = chunks(how.chunk_window);
  if (in.is_sharded) options.shard = {.rank = rank, .world = how.accelerators};
  schedule_by(how.policy);
  loader from{in.data, order, to.device(), options};
  schedule_by(thread_policy::other);
  endless_batches batches{from, to.stream()};
  in.all.arrive_and_wait();
  const double cpu_before = process_cpu_seconds();
  const auto begun = clock::now();
  double first_step = 0;
  std::vector<step_times>& steps = in.steps[static_cast<std::size_t>(rank)];
  steps.reserve(how.steps);
  for (std::uint64_t step = 0; step < how.steps; ++step) {
    step_times at;
    at.begun = clock::now();
    if (how.takes_batches) batches.take();
    at.taken = clock::now();
    if (how.takes_batches) to.wait();
    at.arrived = clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>{in.of.computation_seconds});
    at.computed = clock::now();
    steps.push_back(at);
    if (step == 0) first_step = seconds_between(begun, at.computed);
    in.all.arrive_and_wait();
  }
  const double total = seconds_between(begun, clock::now());
  const double cpu = process_cpu_seconds() - cpu_before;
  const std::lock_guard lock{in.mutex};
  in.utilisations += utilisation(total, first_step, how.steps, in.of.computation_seconds);
  in.longest = std::max(in.longest, total);
  in.cpu = std::max(in.cpu, cpu);
}

}  // namespace

measured emulate(const workload& of, const dataset_ptr& data, const emulation& how) {
  const auto world = static_cast<std::uint64_t>(how.accelerators);
  training shared{of, data, how, how.accelerators > 1 && data->size() >= of.batch_size * world};
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < how.accelerators; ++rank)
    threads.emplace_back([&shared, rank] {
      try {
        // A slack of a nanosecond: the usual 50 us would be an eighth of a step of DLRM.
        (void)::prctl(PR_SET_TIMERSLACK, 1);
        train(shared, rank);
      } catch (...) {
        const std::lock_guard lock{shared.mutex};
        if (!shared.failure) shared.failure = std::current_exception();
        shared.all.arrive_and_drop();
      }
    });
  threads.clear();
  if (shared.failure) std::rethrow_exception(shared.failure);
  const auto samples = static_cast<double>(how.steps * of.batch_size * world);
  return {.utilisation = shared.utilisations / how.accelerators,
          .samples_per_second = samples / shared.longest,
          .cores = shared.cpu / shared.longest,
          .seconds = shared.longest,
          .parts = parts_of(shared),
          .is_sharded = shared.is_sharded};
}

}  // namespace feedline::bench
