#pragma once

#include <feedline/cuda/cuda_device.hpp>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <functional>

namespace feedline::bench {

/// What the main of every benchmark does: reads the command line, looks for a GPU, runs, and reports an error in one line.
inline int run_program(CLI::App& app, int argc, char* argv[], const std::function<void()>& run) {
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::warn);
  if (cuda_device_count() == 0) {
    std::printf("no GPU: nothing to measure\n");
    return 0;
  }
  try {
    run();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}

}  // namespace feedline::bench
