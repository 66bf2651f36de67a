#pragma once

#include <feedline/dataset/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// An array that describes itself: type, shape, and the elements, the least byte first.
struct stored_array {
  element_type type = element_type::u8;
  std::vector<std::uint64_t> shape = {};
  std::span<const std::byte> elements = {};
};

struct stored_column;

/// Reads the head of an array. The size of its elements is not checked.
/// @throws dataset_error without a location if it is cut short or of an unknown type.
using array_reader = stored_array(const stored_column& of, std::span<const std::byte> value);

/// Most dimensions of an array.
inline constexpr std::size_t max_array_rank = 32;

/// How the values of a column are stored.
enum class column_kind : std::uint8_t {
  fixed,     ///< elements of one type and shape
  elements,  ///< any number of elements of one type: bytes, text, arrays of one dimension
  array,     ///< an array with a head, which `read_array` reads
  image,     ///< an image file
  digits,    ///< a number as text
};

/// A column of records, as the index of a format describes it.
struct stored_column {
  std::string name;
  std::string coding;  ///< the format's own word for it, for messages
  column_kind kind = column_kind::elements;
  element_type type = element_type::u8;   ///< type of elements; `digits`: i64 or f64
  std::vector<std::uint64_t> shape = {};  ///< shape, if `fixed`
  std::uint64_t stored_bytes = 0;         ///< size of each value; 0: stored with the record
  array_reader* read_array = nullptr;
  std::string left_out = {};  ///< why it cannot be a field; empty: it can
};

/// The columns of records, and how a record is divided.
struct record_layout {
  std::vector<stored_column> columns;
  /// A record begins with the size, in 4 bytes, of each value that has no fixed one. If not: a
  /// record is the value of the only column.
  bool has_sizes = true;
};

using record_values = std::vector<std::span<const std::byte>>;

/// Finds the values of a record, one for each column.
/// @throws dataset_error without a location, if the sizes do not add up to the record's.
void split_record(const record_layout& layout, std::span<const std::byte> record,
                  record_values& values);

}  // namespace feedline::detail
