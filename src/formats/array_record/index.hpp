#pragma once

#include "io/byte_file.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// A chunk of records, as the index says.
struct array_chunk {
  byte_range stored;
  std::uint64_t end;        ///< number of records in the file up to its end
  std::uint64_t raw_bytes;  ///< size of its records once they are decompressed
};

/// The index at the end of an ArrayRecord file, whose hashes are checked.
/// @return Empty: the file has no record.
/// @throws dataset_error naming file and byte: cut short, a Riegeli file without an index, damaged.
[[nodiscard]] std::vector<array_chunk> read_array_index(const byte_file& file);

/// The same of the records of the index. @param values The records, one after the other.
/// @param ends Where each ends. @param footer Where the index begins in the file.
/// @throws dataset_error without a location
[[nodiscard]] std::vector<array_chunk> parse_array_index(std::span<const std::byte> values,
                                                         std::span<const std::uint64_t> ends,
                                                         std::uint64_t footer);

}  // namespace feedline::detail
