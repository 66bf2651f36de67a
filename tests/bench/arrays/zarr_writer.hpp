#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace feedline::bench {

/// A way to store chunks of a Zarr array of version 3.
struct zarr_encoding {
  std::string name;
  std::string codecs;   ///< JSON: the codecs after "bytes", each after a comma
  block_filter filter;  ///< the same for devices
  std::function<std::vector<std::byte>(std::span<const std::byte>)> encode;
};
/// Zstd as zarr-python writes it by default (level 0), Blosc with LZ4 and shuffled bytes, and gzip
/// at zarr-python's level 5. Those without a library here are left out.
[[nodiscard]] std::vector<zarr_encoding> zarr_encodings(std::size_t element_bytes);

/// An array of a store.
struct zarr_array {
  std::string path;  ///< within the store; empty: the store is the array
  std::string type;  ///< Zarr's name of it
  std::vector<std::uint64_t> shape = {};
  std::vector<std::uint64_t> chunk = {};
  std::vector<std::string> dimensions = {};
  std::uint64_t chunks_per_shard = 0;  ///< along the first dimension; 0: no shards
};

/// Bytes of an array, stored and decoded.
struct zarr_bytes {
  std::uint64_t stored = 0;
  std::uint64_t decoded = 0;

  [[nodiscard]] double ratio() const {
    return static_cast<double>(decoded) / static_cast<double>(stored);
  }
};

/// Writes a group's metadata.
void write_zarr_group(const std::filesystem::path& store);

/// Writes an array on all cores. @param encoded Encoded chunks, row-major; the array repeats them
/// if it has more.
[[nodiscard]] zarr_bytes write_zarr(const std::filesystem::path& store, const zarr_array& array,
                                    const zarr_encoding& as,
                                    std::span<const std::vector<std::byte>> encoded);

}  // namespace feedline::bench
