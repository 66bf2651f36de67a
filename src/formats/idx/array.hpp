#pragma once

#include "formats/array.hpp"

#include <span>

namespace feedline::detail {

/// Whether a file begins as IDX: two zeros, one of the element types, a number of dimensions.
[[nodiscard]] bool may_be_idx(std::span<const std::byte> head) noexcept;

/// Whether it is as long as its dimensions say, too. @param head Enough of it to hold these.
[[nodiscard]] bool is_idx(std::span<const std::byte> head, std::uint64_t file_bytes);

/// All that an IDX file holds, its elements in the machine's byte order.
struct idx_array {
  array_header header;
  row_storage elements;  ///< `header.payload_bytes` bytes
};

/// Reads an IDX file whole, compressed by gzip or not. Offsets in errors count the file's bytes,
/// or, where the message says so, the decompressed ones.
///
/// Memory follows the data, not the header: allocates no more than the file's length, or than twice
/// the bytes decompressed so far, and never more than the header announces.
/// @throws dataset_error naming the byte: see `open_idx`.
[[nodiscard]] idx_array read_idx(byte_source& file, const file_field& name);

}  // namespace feedline::detail
