#pragma once

#include "io/byte_source.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// What a `.npy` header says: a Python dictionary of these three.
struct npy_literal {
  std::string descr;  ///< NumPy's word for the type: "<f4"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t descr_offset = 0;  ///< in the file, for errors
  std::uint64_t shape_offset = 0;
};

/// Reads the dictionary: keys in any order, either quotes, trailing commas, white space between
/// tokens, lengths with the suffix "L" of Python 2's long integers; and nothing else.
/// @param offset Of the text in the file.
/// @throws dataset_error naming the byte: not such a dictionary, a type that is no word (records).
[[nodiscard]] npy_literal parse_npy_literal(std::string_view text, std::uint64_t offset,
                                            const file_field& name);

}  // namespace feedline::detail
