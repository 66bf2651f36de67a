#pragma once

#include "formats/columns/shards.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// Files of Riegeli/records: chunks of records, interrupted every 64 KiB by the header of a block.
// Errors do not say where a chunk is; the caller adds it.

namespace feedline::detail {

inline constexpr std::uint64_t riegeli_block_bytes = std::uint64_t{1} << 16;

/// Whether these bytes begin a file of Riegeli/records.
[[nodiscard]] bool is_riegeli_head(std::span<const std::byte> head) noexcept;

/// Whether a chunk can begin at this byte: not within or right after the header of a block.
[[nodiscard]] constexpr bool may_begin_chunk(std::uint64_t at) noexcept {
  constexpr std::uint64_t header_bytes = 24;
  return at % riegeli_block_bytes == 0 || at % riegeli_block_bytes > header_bytes;
}

/// A chunk whose hashes are right.
struct riegeli_chunk {
  std::uint8_t type;
  std::uint64_t records;
  std::uint64_t raw_bytes;  ///< size of all records once they are decompressed
  std::span<const std::byte> data;
};

/// Takes a chunk out of the bytes of its file, without the headers of blocks in it.
/// @param stored The file's bytes from the chunk's first on, as far as the next chunk; they change.
/// @param begin Where they are in the file.
/// @throws dataset_error: cut short; a wrong hash of the chunk's header, its data, or a block.
[[nodiscard]] riegeli_chunk take_riegeli_chunk(std::span<std::byte> stored, std::uint64_t begin);

/// The records of a chunk that is not transposed, as they are stored.
struct packed_records {
  shard_codec codec;
  std::uint64_t records;
  std::uint64_t raw_bytes;
  std::uint64_t raw_size_bytes;       ///< size of `sizes` once it is decompressed
  std::span<const std::byte> sizes;   ///< size of each record
  std::span<const std::byte> values;  ///< the records themselves, one after the other
};

/// @throws dataset_error: no records, transposed, a compression that feedline does not undo,
/// impossible sizes.
[[nodiscard]] packed_records find_records(const riegeli_chunk& of);

/// Finds where each record ends within the values. @param ends One for each record.
/// @throws dataset_error if the sizes are not those of the values.
void unpack_record_ends(const packed_records& of, std::span<std::uint64_t> ends);

/// Decompresses all records. @param out `raw_bytes` @throws dataset_error
void unpack_records(const packed_records& of, std::span<std::byte> out);

}  // namespace feedline::detail
