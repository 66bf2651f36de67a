#pragma once

#include <feedline/loader/loader_options.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace mnist {

/// What the command line says.
struct trainer_options {
  std::filesystem::path data;
  std::string device = "auto";     ///< or "cpu", "cuda", "cuda:N"
  std::uint64_t batch_size = 128;  ///< of all ranks together
  std::uint64_t epochs = 5;
  int readers = feedline::automatic_readers;
  feedline::placement placement = feedline::placement::automatic;
  std::size_t cache_mib = 0;
  std::uint64_t seed = 1;
  std::uint64_t within_chunks = 0;
  bool prefetch = true;

  int gpus = 1;
  int ranks = 1;
  bool overlap = true;

  std::filesystem::path checkpoint;  ///< empty: none
  std::uint64_t every = 0;           ///< batches between two; 0: at the end of epochs only
  bool resume = false;
  std::filesystem::path losses;     ///< empty: none
  std::filesystem::path checksums;  ///< empty: none
};

/// Reads the command line. Where it asks for help, or is wrong, ends the program: 0 or 2.
[[nodiscard]] trainer_options parse_command_line(int argc, char** argv);

}  // namespace mnist
