/// Cost of error policies if all samples can be read: delivery on the host device, policy by
/// policy, side by side; and the cost for a reader of recording what it reads, for deadlines. No
/// GPU.
///
///     feedline_bench_policies [--shape mnist64] [--readers 2] [--seconds 0.3] [--runs 5]
///
/// Method: for each shape a loader for each policy delivers shuffled rows from RAM. In each run all
/// policies have their turn, one after another, so that a change of the machine's speed meets
/// all of them. Printed are the median batch rate of each; its share of the rate with `fail`, which
/// does nothing more, as the median of the runs' shares [least, most]; and the CPU time of all
/// threads a batch, which other work on the machine changes less. Then one read_record, as a reader
/// uses it: nanoseconds of CPU time a request of three runs.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/processor.hpp"
#include "bench/support/delivered.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "reader/read_record.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  int readers = 2;
};

const std::array<std::pair<const char*, error_policy>, 4> policies{{
    {"fail", {}},
    {"fail, 3 retries", {.retries = 3}},
    {"skip", {.action = error_action::skip, .retries = 3}},
    {"substitute", {.action = error_action::substitute, .retries = 3}},
}};

/// A loader, and where it stands.
class feed {
 public:
  feed(const shape& shape, const dataset_ptr& data, const error_policy& errors, int readers)
      : from_{data, shuffle{.seed = 1}, make_host_device(),
              loader_options{.batch_size = shape.batch_size,
                             .epochs = UINT64_MAX,
                             .readers = readers,
                             .errors = errors}} {}

  /// Measures after a quarter of the time, which warms up.
  delivered run(double seconds) {
    std::uint64_t counted = 0;
    bool warm = false;
    meter since;
    do {
      for (const batch& each : from_.epoch(epoch_)) {
        if (warm) {
          counted += each.size() != 0 ? 1 : 0;
        } else if (since.seconds() > seconds / 4) {
          warm = true;
          since = meter{};
        }
      }
      ++epoch_;
    } while (!warm || since.seconds() < seconds);
    return since.stop(counted, 0);
  }

 private:
  loader from_;
  std::uint64_t epoch_ = 0;
};

void compare_policies(const shape& shape, const options& options, results& found) {
  const auto data = make_data(shape);
  std::vector<std::vector<double>> rates(policies.size());
  std::vector<std::vector<double>> shares(policies.size());
  std::vector<std::vector<double>> cpu(policies.size());
  for (int run = 0; run <= options.runs; ++run) {
    std::vector<delivered> now;
    for (const auto& [name, errors] : policies)
      now.push_back(feed{shape, data, errors, options.readers}.run(options.seconds));
    if (run == 0) continue;  // warms up
    for (std::size_t i = 0; i < now.size(); ++i) {
      rates[i].push_back(now[i].batches_per_second());
      shares[i].push_back(rates[i].back() / rates[0].back());
      cpu[i].push_back(1e6 * now[i].cpu_seconds / static_cast<double>(now[i].batches));
    }
  }
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const auto [least, most] = std::minmax_element(shares[i].begin(), shares[i].end());
    std::printf("%-12s %-18s %12.0f %9.1f %% [%5.1f, %5.1f] %12.2f\n", shape.name.c_str(),
                policies[i].first, median(rates[i]), 100 * median(shares[i]), 100 * *least,
                100 * *most, median(cpu[i]));
    found.add({{"shape", shape.name},
               {"policy", policies[i].first},
               {"batches_per_second", median(rates[i])},
               {"share_of_fail", median(shares[i])},
               {"cpu_us_a_batch", median(cpu[i])}});
  }
  std::fflush(stdout);
}

void time_record(const options& options, results& found) {
  constexpr int requests = 1000;
  detail::read_record record;
  const double ns = median_of(options.runs, [&] {
    const double begun = process_cpu_seconds();
    std::uint64_t count = 0;
    double took = 0;
    for (; took < options.seconds; took = process_cpu_seconds() - begun)
      for (int i = 0; i < requests; ++i, ++count) {
        record.begin(count, position{count}, position{count + 64}, {});
        record.at(position{count + 16});
        record.at(position{count + 32});
        record.end();
      }
    return 1e9 * took / static_cast<double>(count);
  });
  std::printf("\nto write a request of three runs down: %.1f ns\n", ns);
  found.add({{"policy", "read_record"}, {"ns_a_request", ns}});
}

void run(const options& options) {
  results found{
      "policies",
      {{"processor", processor()}, {"hardware_threads", std::thread::hardware_concurrency()}}};
  std::printf("%s, %u hardware threads; %d readers; %d runs of %.1f s\n\n", processor().c_str(),
              std::thread::hardware_concurrency(), options.readers, options.runs, options.seconds);
  std::printf("%-12s %-18s %12s %11s %14s %12s\n", "shape", "errors", "batches/s", "of fail",
              "[least, most]", "CPU us/batch");
  for (const shape& shape : main_shapes(options.shape)) compare_policies(shape, options, found);
  time_record(options, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{
      "Error policies where all samples can be read, and what it costs to note reads"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "reader threads");
  return run_program(
      line, argc, argv, [] { return true; }, [&] { run(options); });
}
