#pragma once

#include <feedline/error.hpp>

#include "formats/array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Whether a file that begins so is a NumPy array. @param head Its first bytes; 6 are enough.
[[nodiscard]] bool is_npy(std::span<const std::byte> head) noexcept;

/// Whether a file that begins so is an archive of NumPy arrays: a zip archive whose first member is
/// named "….npy". @param head Its first bytes; 256 are enough for names that people give.
[[nodiscard]] bool is_npz(std::span<const std::byte> head) noexcept;

/// The end of an archive member's name if the member is an array.
inline constexpr std::string_view npy_suffix = ".npy";

/// The header before a `.npy` file's elements.
struct npy_header : array_header {
  bool is_swapped = false;  ///< elements of more than one byte are not in the machine's byte order
  bool is_fortran = false;  ///< the first dimension is the one that varies fastest
  bool is_complex = false;  ///< elements were complex: the last extent is 2
  bool is_date = false;     ///< elements were dates or durations: counts in units of their own

  [[nodiscard]] std::size_t row_bytes() const noexcept { return payload_bytes / extents.front(); }

  /// Whether each sample's elements lie together and in the order in which they are wanted.
  [[nodiscard]] bool rows_lie_together() const noexcept {
    return !is_fortran || row_bytes() == size_bytes(type);
  }
};

/// The header is sound, but the array cannot be a field: its type, or a dimension.
class npy_not_a_field : public dataset_error {
 public:
  explicit npy_not_a_field(const dataset_error& why) : dataset_error{why.where(), why.message()} {}
};

/// Reads a `.npy` header and stops at the first element. Its claims are trusted only within the
/// limits of the numbers themselves. Format: numpy.lib.format in NumPy's reference.
/// @param any_shape Also a single number, which has no extent, and extents of 0.
/// @throws npy_not_a_field, dataset_error naming the byte: see `open_npy`.
[[nodiscard]] npy_header read_npy_header(byte_source& file, const file_field& name,
                                         bool any_shape = false);

/// The content of a `.npy` header: a Python dictionary of these three.
struct npy_literal {
  std::string descr;  ///< NumPy's word for the type: "<f4"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t descr_offset = 0;  ///< in the file, for errors
  std::uint64_t shape_offset = 0;
};

/// Reads the dictionary: keys in any order, either quotes, trailing commas, white space between
/// tokens, lengths with the suffix "L" of Python 2's long integers; and nothing else.
/// @param offset Offset of the text in the file.
/// @throws dataset_error naming the byte: not such a dictionary, a type that is no word (records).
[[nodiscard]] npy_literal parse_npy_literal(std::string_view text, std::uint64_t offset,
                                            const file_field& name);

}  // namespace feedline::detail
