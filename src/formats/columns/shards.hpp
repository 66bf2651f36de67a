#pragma once

#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// How a shard is compressed.
enum class shard_codec : std::uint8_t { none, zstd, gzip, bz2 };

/// The codec with a name such as "zstd", "zstd:7" or "gz".
/// @throws dataset_error without a location: not a codec that feedline undoes, or without its
/// library; it says what to do.
[[nodiscard]] shard_codec find_shard_codec(std::string_view name);

/// A shard as its index describes it.
struct described_shard {
  std::string path;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;  ///< size of the file; 0: not stated
  shard_codec codec = shard_codec::none;
  std::uint64_t raw_bytes = 0;  ///< size once it is decompressed
  std::uint64_t slack = 0;      ///< the shard may have this many bytes more, as LitData counts them
};

/// Opens the file of a shard. @throws dataset_error if it has another size than the index says.
[[nodiscard]] byte_file_ptr open_shard_file(const described_shard& shard);

/// The records of shards that begin with their number and the offset of each and of the end, in 4
/// bytes each, the least byte first. Opens all files, compares their sizes with the index, and
/// reads the offsets of those that are not compressed. Compressed shards are decompressed whole
/// when a record of theirs is read, and kept as memory allows.
/// @param shards At least one with a sample.
/// @param max_host_cache_bytes Same as in `shard_options`.
/// @throws dataset_error naming the file: another size or number of records than the index says,
/// offsets that are not in order.
[[nodiscard]] coded_values_ptr make_shard_values(std::vector<described_shard> shards,
                                                 std::size_t max_host_cache_bytes);

/// The offsets at the beginning of a shard.
/// @param begin Its first bytes: all that the table takes, and maybe more.
/// @param samples The number of records that the index says. @param bytes Size of the shard.
/// @throws dataset_error without a path
[[nodiscard]] std::vector<std::uint32_t> read_offsets(std::span<const std::byte> begin,
                                                      std::uint64_t samples, std::uint64_t bytes);

/// Bytes that the table of a shard takes.
[[nodiscard]] constexpr std::uint64_t offset_table_bytes(std::uint64_t samples) noexcept {
  return 4 * (samples + 2);
}

}  // namespace feedline::detail
