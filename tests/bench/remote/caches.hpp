#pragma once

#include "bench/remote/file_server.hpp"
#include "bench/remote/forms.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace feedline::bench {

/// How caches are measured.
struct cache_runs {
  double share = 0.5;  ///< part of the data that the smaller cache keeps
  int epochs = 5;
  std::uint64_t batch = 256;
  int readers = 4;
  bool gpu = false;
  std::vector<unsigned> cores = {};     ///< those that clients may use
  std::filesystem::path folder = {};    ///< where caches make their folders
  std::vector<int> processes{2, 4, 8};  ///< processes that share a folder
};

/// Prints which part of the data the server sent in each epoch, by its own count: with a cache in
/// memory for a part of the data and for all of it, beside one that drops what was used least
/// recently (simulated), and with a folder that processes share, each reading its share of all
/// epochs, in two runs one after the other.
void run_caches(const written_form& data, const file_server& server, const cache_runs& how);

}  // namespace feedline::bench
