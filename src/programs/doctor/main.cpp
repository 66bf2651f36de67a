// feedline-doctor: says what is in a file, how it is read, how fast, and which options suit.
//
// Build:  cmake --preset release && cmake --build --preset release --target feedline-doctor
// Run:    build/release/src/programs/doctor/feedline-doctor train.h5 --batch-size 256 --step 5ms
// Expect: docs/guide/doctor.md shows a report.

#include "programs/doctor/program.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <iostream>

int main(int argc, char** argv) {
  const auto log = spdlog::stderr_color_mt("feedline");
  log->set_level(spdlog::level::err);  // what loaders warn of is in the report
  spdlog::set_default_logger(log);
  return doctor::run(argc, argv, std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1);
}
