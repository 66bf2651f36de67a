#pragma once

#include <feedline/dataset/element_type.hpp>

#include "io/byte_source.hpp"

#include <array>
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

/// Reads an IDX header and stops at the first element. Nothing that it says is believed beyond what
/// the numbers themselves allow.
/// @param magic  The first bytes, read already; fewer than four if the file has no more.
/// @throws dataset_error: not IDX, cut short, no samples, sizes that overflow.
[[nodiscard]] idx_header read_idx_header(std::span<const std::byte> magic, byte_source& rest,
                                         const file_field& name);

}  // namespace feedline::detail
