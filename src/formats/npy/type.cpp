#include "formats/npy/type.hpp"

#include <array>

namespace feedline::detail {
namespace {

struct numeric_type {
  std::string_view word;
  element_type type;
};

constexpr std::array numeric_types{
    numeric_type{"b1", element_type::boolean},
    numeric_type{"u1", element_type::u8},
    numeric_type{"i1", element_type::i8},
    numeric_type{"u2", element_type::u16},
    numeric_type{"i2", element_type::i16},
    numeric_type{"u4", element_type::u32},
    numeric_type{"i4", element_type::i32},
    numeric_type{"u8", element_type::u64},
    numeric_type{"i8", element_type::i64},
    numeric_type{"f2", element_type::f16},
    numeric_type{"f4", element_type::f32},
    numeric_type{"f8", element_type::f64},
    // NumPy's names of one letter, with the sizes that they have on 64-bit Linux.
    numeric_type{"?", element_type::boolean},
    numeric_type{"B", element_type::u8},
    numeric_type{"b", element_type::i8},
    numeric_type{"H", element_type::u16},
    numeric_type{"h", element_type::i16},
    numeric_type{"I", element_type::u32},
    numeric_type{"i", element_type::i32},
    numeric_type{"L", element_type::u64},
    numeric_type{"l", element_type::i64},
    numeric_type{"Q", element_type::u64},
    numeric_type{"q", element_type::i64},
    numeric_type{"e", element_type::f16},
    numeric_type{"f", element_type::f32},
    numeric_type{"d", element_type::f64},
};

/// What a kind is of which no size has an element_type, and what to save instead.
std::string_view reason(char kind) {
  switch (kind) {
    case 'c':
      return "complex numbers, which have no element_type; save array.real and array.imag as "
             "arrays "
             "of their own";
    case 'f':
      return "floating-point numbers of a size that has no element_type; save "
             "array.astype('float64')";
    case 'O':
      return "Python objects, which feedline never unpickles; save an array of numbers";
    case 'S':
    case 'a':
    case 'U':
      return "strings, which have no element_type; save numbers that stand for them";
    case 'V':
      return "raw bytes of no stated type (bfloat16 is written so); save array.view() of an "
             "integer "
             "type of that size, or array.astype('float32')";
    case 'M':
    case 'm':
      return "dates or time spans, which have no element_type; save array.view('int64')";
    default:
      return "of a type that feedline does not know; save an array of bool, integers or floats";
  }
}

}  // namespace

std::variant<npy_type, std::string> parse_npy_type(std::string_view word) {
  std::endian order = std::endian::native;  // '=', '|', and what has no order, as NumPy takes them
  std::string_view rest = word;
  if (!rest.empty() && std::string_view{"<>=|"}.find(rest.front()) != std::string_view::npos) {
    if (rest.front() == '<') order = std::endian::little;
    if (rest.front() == '>') order = std::endian::big;
    rest.remove_prefix(1);
  }
  for (const numeric_type& known : numeric_types)
    if (rest == known.word) return npy_type{known.type, order};
  return "the elements ('" + std::string{word} + "') are " +
         std::string{reason(rest.empty() ? '\0' : rest.front())};
}

}  // namespace feedline::detail
