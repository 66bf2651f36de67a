/// The limits of this machine, with which everything else here is compared.
///
///     feedline_bench_limits
///     feedline_bench_limits --part bus,calls
///
/// Method: as each part says in its file; medians of the runs. Rates are of bytes delivered: a
/// gather's read and write count once.

#include "bench/limits/limits.hpp"

#include "bench/support/machine.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace feedline::bench;

namespace {

using part = std::pair<std::string, void (*)(const common_options&, results&)>;

const std::vector<part>& all_parts() {
  static const std::vector<part> all{
      {"bus", measure_bus},         {"calls", measure_calls},
      {"pinning", measure_pinning}, {"cpu-gather", measure_cpu_gather},
      {"written", measure_written}, {"gpu-gather", measure_gpu_gather}};
  return all;
}

void run(const common_options& options, const std::vector<std::string>& wanted) {
  results found{"limits", machine_facts()};
  std::printf("%smethod:    medians of %d runs, about %.2f s each\n", describe_machine().c_str(),
              options.runs, options.seconds);
  for (const auto& [name, measure] : all_parts()) {
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) measure(options, found);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  feedline::test::command_line line{
      "The limits of the machine: bus, calls, pinning, caches, gathers"};
  common_options options;
  options.seconds = 0.05;
  std::vector<std::string> names;
  for (const auto& each : all_parts()) names.push_back(each.first);
  std::vector<std::string> wanted = names;
  add_common_options(line, options);
  line.add_option("--part", wanted, "what to measure").one_of(names);
  return run_program(line, argc, argv, has_gpu, [&] { run(options, wanted); });
}
