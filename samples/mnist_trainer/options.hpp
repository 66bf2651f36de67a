#pragma once

#include <feedline/loader/loader_options.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace mnist {

/// Where to compute.
struct device_choice {
  enum class kind : std::uint8_t { automatic, cpu, cuda };

  kind where = kind::automatic;
  int ordinal = 0;  ///< of the GPU

  /// @param text "auto", "cpu", "cuda" or "cuda:N". @throws feedline::usage_error.
  [[nodiscard]] static device_choice parse(const std::string& text);
};

/// What the command line says.
struct trainer_options {
  std::filesystem::path data;
  std::uint64_t batch_size = 128;
  std::uint64_t epochs = 5;
  int readers = feedline::automatic_readers;
  feedline::placement placement = feedline::placement::automatic;
  std::size_t cache_mib = 0;
  device_choice device;
  std::uint64_t seed = 1;
  std::uint64_t within_chunks = 0;  ///< mixed at a time; 0: all digits are
  std::uint64_t sorted_chunks = 0;  ///< digits a chunk, as if stored by label; 0: as they are
  bool prefetch = true;
  float learning_rate = 0.05F;
};

/// Reads the command line. Where it asks for help, or cannot be understood, prints what there is to
/// say and ends the program: 0 or 2.
[[nodiscard]] trainer_options parse_command_line(int argc, char** argv);

}  // namespace mnist
