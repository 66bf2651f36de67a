#pragma once

#include "formats/columns/shards.hpp"
#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace feedline::detail {

/// Records that are compressed together.
struct packed_block {
  byte_file_ptr file;
  byte_range stored;
  shard_codec codec = shard_codec::none;
  std::uint64_t raw_bytes = 0;  ///< size once it is decompressed
  std::uint64_t slack = 0;      ///< or this many bytes less
  std::uint64_t samples = 0;    ///< at least 1
  /// The offsets of the records and of their end, within the decompressed bytes; the samples of a
  /// file share one list. Null: the decompressed bytes begin with them.
  std::shared_ptr<const std::vector<std::uint32_t>> offsets = nullptr;
  std::uint64_t first = 0;  ///< the block's first record in that list
};

/// The records of blocks, one after the other. A block is decompressed whole when a record of it is
/// read, and kept as memory allows.
/// @throws dataset_error if a block's size is not possible.
[[nodiscard]] coded_values_ptr make_packed_values(std::vector<packed_block> blocks,
                                                  std::size_t max_host_cache_bytes);

/// Decompresses bytes. @param out The size that should come out. @param slack Or this much less.
/// @return The bytes that came out. @throws dataset_error without a location
std::span<std::byte> unpack_shard(shard_codec codec, std::span<const std::byte> stored,
                                  std::span<std::byte> out, std::uint64_t slack = 0);

}  // namespace feedline::detail
