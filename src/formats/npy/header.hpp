#pragma once

#include <feedline/dataset/field.hpp>

#include "io/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Whether a file that begins so is a NumPy array. @param head Its first bytes; 6 are enough.
[[nodiscard]] bool is_npy(std::span<const std::byte> head) noexcept;

/// What stands before a `.npy` file's elements.
struct npy_header {
  element_type type = element_type::u8;
  bool is_swapped = false;  ///< elements of more than one byte are not in the machine's byte order
  bool is_fortran = false;  ///< the first dimension is the one that varies fastest
  std::vector<std::uint64_t> extents;  ///< at least one, none is 0; the first counts the samples
  std::uint64_t header_bytes = 0;      ///< the elements begin there
  std::size_t payload_bytes = 0;       ///< of all elements

  /// Where the array must end; a sum that always fits.
  [[nodiscard]] std::uint64_t end() const noexcept { return header_bytes + payload_bytes; }

  [[nodiscard]] std::size_t row_bytes() const noexcept { return payload_bytes / extents.front(); }

  /// Whether each sample's elements lie together and in the order in which they are wanted.
  [[nodiscard]] bool rows_lie_together() const noexcept {
    return !is_fortran || row_bytes() == size_bytes(type);
  }

  /// What each sample holds.
  [[nodiscard]] field to_field(std::string name) const;

  /// "float32[60000, 28, 28]".
  [[nodiscard]] std::string describe() const;
};

/// Reads a `.npy` header and stops at the first element. Nothing that it says is believed beyond what
/// the numbers themselves allow. Format: numpy.lib.format in NumPy's reference.
/// @throws dataset_error naming the byte: see `open_npy`.
[[nodiscard]] npy_header read_npy_header(byte_source& file, const file_field& name);

/// @throws dataset_error if the file, or what else holds the array, is shorter than its header says.
void require_npy_room(const npy_header& header, std::uint64_t size, const file_field& name);

/// Logs a warning if something follows the array.
void warn_of_bytes_behind(const npy_header& header, std::uint64_t size, const file_field& name);

/// @throws dataset_error if what holds the array is not as long as its header says.
void require_npy_size(const npy_header& header, std::uint64_t size, const file_field& name);

}  // namespace feedline::detail
