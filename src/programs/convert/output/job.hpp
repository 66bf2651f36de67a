#pragma once

#include <feedline/loader/loader_options.hpp>

#include "programs/convert/attributes/attributes.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convert {

enum class format : std::uint8_t {
  hdf5,     ///< one file, a dataset a field
  npy,      ///< a folder, a NumPy file a field
  zarr,     ///< a folder: a Zarr store of version 3, an array a field
  zarr2,    ///< the same of version 2
  records,  ///< one file, a sample after the other, its fields in order, no padding
};

enum class compression : std::uint8_t { none, deflate, lz4, zstd };

/// How an HDF5 file or a Zarr store is laid out.
struct hdf5_layout {
  bool contiguous = false;       ///< no chunks, no compression
  std::uint64_t chunk_rows = 0;  ///< samples in a chunk; 0: chosen by size, or the input's
  compression filter = compression::deflate;
  unsigned level = 4;  ///< level of deflate or Zstandard
};

/// The input of a conversion, and the output's format and options.
struct job {
  std::filesystem::path output;
  format to = format::hdf5;
  hdf5_layout layout = {};
  std::optional<std::uint64_t> shuffle = {};  ///< seed of a random order; empty: as they are
  std::uint64_t within_chunks = 0;            ///< chunks mixed together; 0: all
  int readers = feedline::automatic_readers;
  std::size_t checkpoint_bytes = std::size_t{256}
                                 << 20;            ///< may be lost if the conversion is cut short
  bool restart = false;                            ///< forget what an earlier run left unfinished
  bool skip_damaged = false;                       ///< leave out samples that cannot be read
  bool force = false;                              ///< replace what has the output's name
  std::vector<std::filesystem::path> inputs = {};  ///< files and folders that must stay
  /// Where the samples come from, in words that differ when the samples may.
  std::string source = {};
  carried_attributes carried = {};  ///< for HDF5 and Zarr

  /// The folder in which the output is made: beside it, so that a rename moves it.
  [[nodiscard]] std::filesystem::path work() const { return output.string() + ".part"; }
};

}  // namespace convert
