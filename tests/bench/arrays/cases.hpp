#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sampler.hpp>

#include "bench/arrays/zarr_writer.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::bench {

struct array_options : common_options {
  std::vector<std::string> cases{"rows", "weather", "patches", "cells"};
  std::vector<std::string> encodings{};  ///< encodings of rows; empty: all
  std::vector<std::string> decodes{"device", "cpu"};
  int readers = 4;
  double step_ms = 50;
  std::uint64_t mebibytes = 4096;  ///< decoded size of a data set
  std::vector<std::uint64_t> chunk_times{1, 20};
  std::uint64_t cells = 100'000;
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  bool keep = false;
};

/// The common part of all cases.
struct array_run {
  const array_options& options;
  const gpu_stream& stream;
  double bus;  ///< bytes a second of plain copies
  results& found;
};

/// A line of the table: a data set, and how it is loaded.
struct array_feed {
  std::string data;  ///< case, encoding, layout
  dataset_ptr samples;
  sampler order;
  loader_options loading;
  double ratio = 1;          ///< decoded bytes of one stored
  std::uint64_t chunks = 0;  ///< decoded at least once an epoch; 0: not counted
};

/// Measures it for each of `decodes`, and prints a line for each. Where readers decode, an epoch is
/// measured for a second and a half at most.
void measure_feed(const array_run& run, const array_feed& feed);

/// Prints the rate at which the GPU alone decodes chunks that are in its memory, some at a time.
void measure_decoder(const array_run& run, const std::string& data, const zarr_encoding& as,
                     std::span<const std::vector<std::byte>> stored, std::size_t chunk_bytes);

/// Deletes the store, unless stores are kept.
void drop_store(const array_options& options, const std::filesystem::path& store);

/// Rows of 4,096 f32 in chunks of 256 KiB, with and without shards.
void measure_rows(const array_run& run);
/// 70 variables, windows of 2 + 1 times: their rate, and what a training step waits for them.
void measure_weather(const array_run& run);
/// Patches of 64³ at random positions of volumes, from u16 to normalized f16.
void measure_patches(const array_run& run);
/// Dense rows of a sparse matrix: 100,000 cells, 30,000 genes.
void measure_cells(const array_run& run);

}  // namespace feedline::bench
