#pragma once

#include <feedline/dataset/memory_dataset.hpp>

#include "io/byte_source.hpp"
#include "rows/row_storage.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// An IDX file begins with two zero bytes, the element type and the number of dimensions.
inline constexpr std::size_t idx_magic_bytes = 4;

/// What stands before an IDX file's elements.
struct idx_header {
  element_type type = element_type::u8;
  std::vector<std::uint64_t> extents;  ///< none is 0; the first one counts the samples
  std::size_t payload_bytes = 0;       ///< of all elements

  [[nodiscard]] std::uint64_t header_bytes() const noexcept {
    return idx_magic_bytes + 4 * extents.size();
  }

  /// Where the file must end; a sum that always fits.
  [[nodiscard]] std::uint64_t end() const noexcept { return header_bytes() + payload_bytes; }

  /// "uint8[60000, 28, 28]".
  [[nodiscard]] std::string describe() const;
};

/// Whether a file begins as IDX: two zeros, one of the element types, a number of dimensions.
[[nodiscard]] bool may_be_idx(std::span<const std::byte> head) noexcept;

/// Whether it is as long as its dimensions say, too. @param head Enough of it to hold these.
[[nodiscard]] bool is_idx(std::span<const std::byte> head, std::uint64_t file_bytes);

/// All that an IDX file holds, its elements in the machine's byte order.
struct idx_array {
  idx_header header;
  row_storage elements;  ///< `header.payload_bytes` bytes
};

/// Reads an IDX file whole, compressed by gzip or not. Offsets in errors count the file's bytes,
/// or, where the message says so, the decompressed ones.
///
/// Memory follows the data, not the header: no more is allocated than the file is long, or than
/// twice what has been decompressed so far and never more than the header announces.
/// @throws dataset_error naming the byte: see `open_idx`.
[[nodiscard]] idx_array read_idx(byte_source& file, const file_field& name);

/// The array as a field, its first dimension counting the samples.
[[nodiscard]] memory_field to_field(const idx_array& array, std::string field_name);

}  // namespace feedline::detail
