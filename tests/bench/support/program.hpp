#pragma once

#include "support/command_line.hpp"

#include <functional>
#include <string>

namespace feedline::bench {

/// Options of every benchmark.
struct common_options {
  std::string shape;     ///< empty: those that the program takes by default
  double seconds = 0.3;  ///< time of one run
  int runs = 5;          ///< number of runs; their median counts
  std::string json;      ///< file for the results; empty: none
};

void add_common_options(test::command_line& line, common_options& options);
/// All of them but the shape.
void add_run_options(test::command_line& line, common_options& options);

/// The main function of every benchmark: reads the command line, looks for a GPU, runs, and reports
/// an error in one line.
int run_program(test::command_line& line, int argc, char* argv[],
                const std::function<bool()>& has_gpu, const std::function<void()>& run);

}  // namespace feedline::bench
