#pragma once

#include <feedline/dataset/dataset.hpp>

#include "bench/support/shapes.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::bench {

/// Rows as pictures have them for a compressor: runs of background, strokes, noise; deflate makes
/// about a fifth of them, as of MNIST.
struct drawn_rows {
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;
};
[[nodiscard]] drawn_rows draw_rows(const shape& shape);

/// Samples of a chunk of about 64 KiB.
[[nodiscard]] std::uint64_t samples_per_chunk(const shape& shape);

/// Layouts in which rows are written as they are.
enum class hdf5_kind : std::uint8_t { contiguous, chunks };
[[nodiscard]] std::string to_string(hdf5_kind kind);

/// Writes datasets "image", in the layout asked for, and "label". @return The file's path.
[[nodiscard]] std::filesystem::path write_hdf5(const std::filesystem::path& folder,
                                               const shape& shape, const drawn_rows& rows,
                                               hdf5_kind kind);

/// A file of the same datasets whose images are deflated, and which repeats the rows so often that
/// an epoch is many windows long: much of a small file would still be in memory from the epoch
/// before.
struct deflated_file {
  std::filesystem::path path;
  std::uint64_t samples = 0;
  std::uint64_t chunks = 0;
  std::vector<std::vector<std::byte>> stored = {};  ///< its chunks, each once
};
[[nodiscard]] deflated_file write_deflated(const std::filesystem::path& folder, const shape& shape,
                                           const drawn_rows& rows);

/// Reads like a program that calls the library itself: one H5Dread a row, by one thread at a time.
[[nodiscard]] dataset_ptr open_row_by_row(const std::filesystem::path& file, const shape& shape);

/// Rows a second that threads decode, each into memory of its own, with nothing else to do.
[[nodiscard]] double decode_bound(const shape& shape, const deflated_file& file, int threads,
                                  double seconds);

}  // namespace feedline::bench
