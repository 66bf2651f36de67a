#include "bench/support/program.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>

namespace feedline::bench {

void add_common_options(test::command_line& line, common_options& options) {
  line.add_option("--shape", options.shape,
                  "one of mnist64, mnist1024, cifar256, imagenet256, small-dram; default: all that "
                  "the benchmark is about");
  add_run_options(line, options);
}

void add_run_options(test::command_line& line, common_options& options) {
  line.add_option("--seconds", options.seconds, "of one run").positive();
  line.add_option("--runs", options.runs, "runs a cell, of which the median counts").positive();
  line.add_option("--json", options.json, "file that the results go to, for report.py");
}

int run_program(test::command_line& line, int argc, char* argv[],
                const std::function<bool()>& has_gpu, const std::function<void()>& run) {
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  spdlog::set_level(spdlog::level::warn);
  try {
    if (!has_gpu()) {
      std::printf("no GPU: nothing to measure\n");
      return 0;
    }
    run();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}

}  // namespace feedline::bench
