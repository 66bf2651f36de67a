// feedline-doctor: says what is in a file, how it is read, how fast, and which options suit.
//
// Build:  cmake --preset release && cmake --build --preset release --target feedline-doctor
// Run:    build/release/src/programs/doctor/feedline-doctor train.h5 --batch-size 256 --step 5ms
// Expect: docs/guide/doctor.md shows a report.

#include "programs/doctor/program.hpp"
#include "programs/words/log.hpp"

#include <unistd.h>

#include <iostream>

int main(int argc, char** argv) {
  // The report contains what loaders warn of.
  programs::log_in_words_of(programs::program::doctor, spdlog::level::err);
  return doctor::run(argc, argv, std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1);
}
