#include "bench/support/program.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>

namespace feedline::bench {

void add_common_options(CLI::App& app, common_options& options) {
  app.add_option("--shape", options.shape,
                 "one of mnist64, mnist1024, cifar256, imagenet256, small-dram; default: all that "
                 "the benchmark is about");
  app.add_option("--seconds", options.seconds, "of one run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--runs", options.runs, "runs a cell, of which the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json, "file that the results go to, for report.py");
}

int run_program(CLI::App& app, int argc, char* argv[], const std::function<bool()>& has_gpu,
                const std::function<void()>& run) {
  CLI11_PARSE(app, argc, argv);
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
