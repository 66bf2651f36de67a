/// Whether exposed time is right: what `loader.statistics()` tells, beside the GPU's own clock, for
/// steps of 0.25 to 4 times the time that the loader alone needs for a batch.
///
///     feedline_bench_exposed
///     feedline_bench_exposed --shape imagenet256 --readers 8 --seconds 1
///
/// Method: feedline tells exposed time by timed events on the consumer's stream, for a sample of
/// the waits. Here nothing of that is used. Each step is a kernel that writes the GPU's clock
/// (%globaltimer) at its beginning and at its end. The time from one step's end to the next one's
/// beginning is a gap. The same steps without a loader have gaps, too: launching takes time. So
/// exposed time is the sum of the loop's gaps less as many mean gaps of the steps alone. This was
/// chosen before the stream's whole time less the kernels' time alone, because kernels beside
/// copies may take longer than alone, and because single gaps show where a disagreement comes from.
/// That other number is printed, too ("host": the clock of the host, loop less steps alone).
///
/// feedline agrees if the two differ by no more than 5 % of the measured time, or by 1 µs a batch.
///
/// Below each line is what explains a difference: waits, how many of them were not measured
/// themselves, how long one is by the events; how many gaps are longer than any usual gap of the
/// steps alone (99.9 % of them) and 1 µs, and their sum; quantiles; and gaps by length.
/// The head tells the same of waits that are known: what they cost, what timed events tell of them,
/// and by how much the two differ. Many waits of a loop that is fed well are over when its stream
/// comes to them, so where little is exposed, the difference a batch may be that of such a wait.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/statistics/statistics.hpp>

#include "bench/loading/cost_of_waits.hpp"
#include "bench/loading/stamped_steps.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  int readers = 8;
};

constexpr double allowed_share = 0.05;
constexpr double allowed_us = 1;  ///< a batch

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}
double mean(const std::vector<double>& values) {
  return sum(values) / static_cast<double>(values.size());
}

// ---- Loops --------------------------------------------------------------------------------------

struct loop_times {
  stamped_steps::times gpu;
  double host = 0;  ///< µs, from the first launch until the stream is done
  loader_statistics seen = {};
};

loop_times steps_alone(stamped_steps& on, std::uint64_t batches, std::uint64_t cycles) {
  on.begin();
  const auto start = clock_type::now();
  for (std::uint64_t i = 0; i < batches; ++i) on.issue(cycles);
  loop_times found{.gpu = on.end()};
  found.host = 1e6 * seconds_since(start);
  return found;
}

/// @param stream Idle.
loop_times steps_fed(loader& loader, std::uint64_t& epoch, stamped_steps& on, std::uint64_t batches,
                     std::uint64_t cycles, const gpu_stream& stream) {
  const loader_statistics before = loader.statistics();
  on.begin();
  const auto start = clock_type::now();
  for (std::uint64_t taken = 0; taken < batches;) {
    for (batch& batch : loader.epoch(epoch++, stream_ref{stream.get()})) {
      (void)batch;
      on.issue(cycles);
      ++taken;
    }
  }
  loop_times found{.gpu = on.end()};
  found.host = 1e6 * seconds_since(start);
  found.seen = loader.statistics().since(before);
  return found;
}

// ---- One cell: a shape and a length of steps ----------------------------------------------------

/// Results of all runs of a cell; times in µs.
struct cell {
  std::uint64_t batches = 0;
  double step = 0;  ///< mean of the last run
  std::vector<double> usual_gaps;
  std::vector<double> gaps;
  double host = 0;  ///< loops less steps alone, by the host's clock
  double told = 0;  ///< feedline's figure
  double waits = 0;
  double unmeasured = 0;
  double worst = 0;  ///< difference of a single run, a batch

  [[nodiscard]] double measured() const {
    return sum(gaps) - static_cast<double>(gaps.size()) * mean(usual_gaps);
  }
  [[nodiscard]] double a_batch(double time) const { return time / static_cast<double>(batches); }
  [[nodiscard]] double difference() const { return told - measured(); }
  [[nodiscard]] double share() const {
    return measured() <= 0 ? 0 : std::abs(difference()) / measured();
  }
  [[nodiscard]] bool agrees() const {
    return std::abs(difference()) <= allowed_share * measured() ||
           std::abs(a_batch(difference())) <= allowed_us;
  }

  void add(std::uint64_t of_batches, const loop_times& alone, const loop_times& fed) {
    const double measured_now =
        sum(fed.gpu.gaps) - static_cast<double>(fed.gpu.gaps.size()) * mean(alone.gpu.gaps);
    const double told_now = 1e-3 * static_cast<double>(fed.seen.exposed.count());
    const double difference_now = (told_now - measured_now) / static_cast<double>(of_batches);
    if (std::abs(difference_now) > std::abs(worst)) worst = difference_now;
    batches += of_batches;
    step = fed.gpu.mean_step;
    usual_gaps.insert(usual_gaps.end(), alone.gpu.gaps.begin(), alone.gpu.gaps.end());
    gaps.insert(gaps.end(), fed.gpu.gaps.begin(), fed.gpu.gaps.end());
    host += fed.host - alone.host;
    told += told_now;
    waits += static_cast<double>(fed.seen.exposed_waits);
    unmeasured += static_cast<double>(fed.seen.unmeasured_waits);
  }
};

void print_details(const cell& found) {
  const double usual = quantile(found.usual_gaps, 0.999);
  double long_gaps = 0;
  double in_long_gaps = 0;
  constexpr std::array<double, 8> limits{2, 5, 10, 20, 50, 100, 500, 1e12};
  std::array<std::pair<std::uint64_t, double>, limits.size()> by_length{};
  for (const double gap : found.gaps) {
    auto& [count, time] = by_length.at(static_cast<std::size_t>(
        std::lower_bound(limits.begin(), limits.end() - 1, gap) - limits.begin()));
    ++count;
    time += gap;
    if (gap <= usual + 1) continue;
    ++long_gaps;
    in_long_gaps += gap;
  }
  std::printf(
      "    waits %.0f, of them not measured %.0f, %.2f µs each; batches %llu; long gaps %.0f, of "
      "%.2f µs each, %.2f a batch; worst run differs by %.2f µs a batch\n",
      found.waits, found.unmeasured, found.waits > 0 ? found.told / found.waits : 0.0,
      static_cast<unsigned long long>(found.batches), long_gaps,
      long_gaps > 0 ? in_long_gaps / long_gaps : 0.0, found.a_batch(in_long_gaps), found.worst);
  const auto print_quantiles = [](const char* name, const std::vector<double>& gaps) {
    std::printf("    %s gaps: mean %.2f", name, mean(gaps));
    for (const double share : {0.1, 0.5, 0.9, 0.99, 0.999, 1.0})
      std::printf(", %g %% %.2f", 100 * share, quantile(gaps, share));
    std::printf("\n");
  };
  print_quantiles("alone", found.usual_gaps);
  print_quantiles("fed  ", found.gaps);
  std::printf("    fed gaps up to µs: count, µs a batch:");
  for (std::size_t i = 0; i < limits.size(); ++i)
    std::printf(" | %g: %llu, %.2f", limits.at(i),
                static_cast<unsigned long long>(by_length.at(i).first),
                found.a_batch(by_length.at(i).second));
  std::printf("\n");
}

void print(const shape& shape, double ratio, const cell& found) {
  std::printf("%-12s %6.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.1f  %s\n", shape.name.c_str(),
              ratio, found.step, mean(found.usual_gaps), found.a_batch(found.host),
              found.a_batch(found.measured()), found.a_batch(found.told),
              found.a_batch(found.difference()), 100 * found.share(),
              found.agrees() ? "agrees" : "DIFFERS");
  print_details(found);
  std::fflush(stdout);
}

/// @param alone Seconds that the loader alone needs for a batch.
cell run_cell(loader& loader, std::uint64_t& epoch, stamped_steps& on, double ratio, double alone,
              const options& options, const gpu_stream& stream) {
  const auto cycles = static_cast<std::uint64_t>(1e6 * ratio * alone * cycles_per_microsecond());
  const std::uint64_t an_epoch = loader.plan().batches_per_epoch;
  const auto wanted = static_cast<std::uint64_t>(options.seconds / (alone * std::max(ratio, 1.0)));
  const std::uint64_t epochs = std::min(wanted / an_epoch + 1, max_steps / an_epoch);
  const std::uint64_t batches = epochs * an_epoch;
  cell found;
  (void)steps_fed(loader, epoch, on, batches, cycles, stream);  // warm up, and settle the slots
  for (int i = 0; i < options.runs; ++i) {
    const loop_times by_itself = steps_alone(on, batches, cycles);
    found.add(batches, by_itself, steps_fed(loader, epoch, on, batches, cycles, stream));
  }
  return found;
}

void run(const options& options) {
  results found{"exposed", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    %d readers; %d runs of %.2g s and more, one after the other with the steps "
      "alone; times in µs a batch\n",
      options.readers, options.runs, options.seconds);
  const gpu_stream stream;
  stamped_steps on{stream};
  print_cost_of_waits(on, stream);
  int differ = 0;
  for (const shape& shape : shapes_named(options.shape)) {
    if (options.shape.empty() && shape.name != "imagenet256" && !shape.name.starts_with("mnist"))
      continue;
    loader loader{
        make_data(shape),
        shuffle{.seed = 1},
        make_cuda_device(0),
        {.batch_size = shape.batch_size, .epochs = UINT64_MAX, .readers = options.readers}};
    std::uint64_t epoch = 0;
    (void)consume(loader, epoch, stream, options.seconds);  // warm up
    const double alone = median_of(options.runs, [&] {
      return 1 / consume(loader, epoch, stream, options.seconds).batches_per_second();
    });
    std::printf(
        "%s: %llu samples a batch, %llu batches a slot at most; the loader alone needs "
        "%.2f µs a batch\n",
        shape.name.c_str(), static_cast<unsigned long long>(shape.batch_size),
        static_cast<unsigned long long>(loader.plan().batches_per_slot), 1e6 * alone);
    std::printf("%-12s %6s %9s %9s %9s %9s %9s %9s %9s\n", "shape", "ratio", "step", "gap",
                "by host", "measured", "feedline", "differ", "percent");
    for (const double ratio : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      const cell of = run_cell(loader, epoch, on, ratio, alone, options, stream);
      print(shape, ratio, of);
      if (!of.agrees()) ++differ;
      found.add({{"shape", shape.name},
                 {"ratio", ratio},
                 {"alone_us", 1e6 * alone},
                 {"step_us", of.step},
                 {"measured_us", of.a_batch(of.measured())},
                 {"told_us", of.a_batch(of.told)},
                 {"waits", of.waits},
                 {"unmeasured_waits", of.unmeasured},
                 {"batches", of.batches},
                 {"agrees", of.agrees()}});
    }
  }
  std::printf("\n%s\n", differ == 0 ? "all agree" : (std::to_string(differ) + " differ").c_str());
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Exposed time, as feedline tells it and by the GPU's clock"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "reader threads");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
