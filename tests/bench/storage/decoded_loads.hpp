#pragma once

#include <feedline/loader/loader.hpp>

#include "bench/support/consume.hpp"
#include "bench/support/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace feedline::bench {

/// Options of benchmarks that compare images decoded by readers with those decoded by the GPU.
struct decoding_options : common_options {
  std::string folder;
  std::vector<int> readers{1, 2, 4, 8};
  std::vector<std::string> decodes{"cpu", "device"};
  std::uint64_t batch_size = 64;
};

/// Adds all but the folder.
void add_decoding_options(test::command_line& line, decoding_options& options);

/// Loads in stream placement; the GPU gives normalized f16.
/// @param decoder "cpu" or "device".
[[nodiscard]] loader_options decoding_loads(const decoding_options& options,
                                            const std::string& decoder, int readers);

/// A loader's images a second.
struct decoding_rates {
  spread runs;
  double median = 0;
  double least = 0;
  double most = 0;
};

/// Delivers one epoch that is not measured, then runs.
/// @throws usage_error if the loader does not decode as the options want it.
[[nodiscard]] decoding_rates measure_decoding(loader& loader, const std::string& decoder,
                                              const decoding_options& options,
                                              const gpu_stream& stream);

}  // namespace feedline::bench
