#pragma once

#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/shard.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace mnist {

/// Options of the command line.
struct trainer_options {
  std::filesystem::path data;
  std::string device = "auto";  ///< or "cpu", "cuda", "cuda:N"
  std::uint64_t batch_size = 128;
  std::uint64_t epochs = 5;
  int readers = feedline::automatic_readers;
  std::string placement = "auto";
  std::size_t cache_mib = 0;
  std::uint64_t seed = 1;
  std::uint64_t within_chunks = 0;
  bool prefetch = true;
};

/// Reads the command line. If it asks for help, or is wrong, ends the program with 0 or 2.
/// @param more Adds a program's own options.
[[nodiscard]] trainer_options parse_command_line(int argc, char** argv,
                                                 const std::function<void(CLI::App&)>& more = {});

/// Calls `work`, and prints the error that it throws.
/// @return The program's exit code: 0; 2 for a wrong use; 1 for another error.
int report_errors(const char* program, const std::function<void()>& work);

/// N of "cuda:N"; 0 of "auto" and "cuda".
inline int gpu_number(const std::string& device) {
  return device.starts_with("cuda:") ? std::stoi(device.substr(5)) : 0;
}

/// The options of a loader of a rank that has this share of every batch.
[[nodiscard]] feedline::loader_options loading(const trainer_options& options,
                                               const feedline::shard& share,
                                               std::uint64_t batch_size);

}  // namespace mnist
