#include "formats/npy/header.hpp"

#include "detail/byte_order.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace feedline::detail {
namespace {

constexpr std::size_t magic_bytes = 6;
constexpr std::size_t version_bytes = 2;

/// No type that serves makes a header a tenth as long; a length beyond is a claim not worth memory.
constexpr std::uint64_t longest_header_bytes = std::uint64_t{1} << 20;

/// Reads bytes that must be there.
template <std::size_t Bytes>
std::array<std::byte, Bytes> read_some(byte_source& file, std::uint64_t& offset,
                                       const file_field& name) {
  std::array<std::byte, Bytes> bytes{};
  const std::size_t got = file.read(bytes);
  offset += got;
  if (got < Bytes) throw name.error(offset, "cut short within the header; get the file again");
  return bytes;
}

/// Reads all before the dictionary. @return How many bytes long that is announced to be.
std::uint64_t read_preamble(byte_source& file, std::uint64_t& offset, const file_field& name) {
  std::array<std::byte, magic_bytes> begin{};
  const std::size_t got = file.read(begin);
  if (!is_npy(std::span{begin}.first(got)))
    throw name.error(0,
                     "not a NumPy file: it does not begin with \\x93NUMPY; check that this is the "
                     "right file");
  offset = got;
  const auto version = read_some<version_bytes>(file, offset, name);
  const auto major = std::to_integer<unsigned>(version[0]);
  const auto minor = std::to_integer<unsigned>(version[1]);
  if (major < 1 || major > 3 || minor != 0)
    throw name.error(magic_bytes, "version " + std::to_string(major) + "." + std::to_string(minor) +
                                      " of the format is not known (1.0, 2.0 and 3.0 are); save "
                                      "the array again with numpy.save");
  const std::uint64_t length_offset = offset;
  const std::uint64_t length = major == 1 ? little_endian(read_some<2>(file, offset, name))
                                          : little_endian(read_some<4>(file, offset, name));
  if (length > longest_header_bytes)
    throw name.error(length_offset, "the header claims to be " + std::to_string(length) +
                                        " bytes long; no array of numbers needs more than " +
                                        std::to_string(longest_header_bytes) +
                                        ", so the file is damaged, get it again");
  return length;
}

/// NumPy's word for a type, and its names of one letter, with the sizes of 64-bit Linux.
struct numeric_type {
  element_type type;
  std::string_view word;
  std::string_view letters;
  bool is_complex = false;  ///< an element is two numbers of the type
};

/// Whether a word is NumPy's for dates or durations, such as "M8[ns]": counts in 64 bits.
bool is_date(std::string_view word) {
  return (word.starts_with("M8") || word.starts_with("m8")) && (word.size() == 2 || word[2] == '[');
}

constexpr std::array numeric_types{
    numeric_type{element_type::boolean, "b1", "?"},
    numeric_type{element_type::u8, "u1", "B"},
    numeric_type{element_type::i8, "i1", "b"},
    numeric_type{element_type::u16, "u2", "H"},
    numeric_type{element_type::i16, "i2", "h"},
    numeric_type{element_type::u32, "u4", "I"},
    numeric_type{element_type::i32, "i4", "i"},
    numeric_type{element_type::u64, "u8", "LQ"},
    numeric_type{element_type::i64, "i8", "lq"},
    numeric_type{element_type::f16, "f2", "e"},
    numeric_type{element_type::f32, "f4", "f"},
    numeric_type{element_type::f64, "f8", "d"},
    numeric_type{element_type::f32, "c8", "F", true},
    numeric_type{element_type::f64, "c16", "D", true},
    // The package ml_dtypes: its own name, and what numpy.save makes of it.
    numeric_type{element_type::bf16, "bfloat16", ""},
    numeric_type{element_type::bf16, "V2", ""},
};

/// Kinds without an element_type of any size, and what to save instead.
constexpr std::array<std::array<std::string_view, 2>, 4> reasons{{
    {"c", "complex numbers of a size that has no element_type; save array.astype('complex128')"},
    {"f",
     "floating-point numbers of a size that has no element_type; save array.astype('float64')"},
    {"O", "Python objects, which feedline never unpickles; save an array of numbers"},
    {"SaU", "strings, which have no element_type; save numbers that stand for them"},
}};

/// Types that Python's package ml_dtypes adds to NumPy, as they are called or as numpy.save writes
/// them: raw bytes of their size, the name lost.
struct added_type {
  std::string_view word;  ///< NumPy's, or how it begins: with "V", or something that ends in '_'
  std::string_view reason;
};

constexpr std::array added_types{
    added_type{"float8_",
               "float8, which is not supported; save array.astype('float16') or 'float32'"},
    added_type{"float6_",
               "float6, which is not supported; save array.astype('float16') or 'float32'"},
    added_type{"float4_",
               "float4, which is not supported; save array.astype('float16') or 'float32'"},
    added_type{"f1",
               "floating-point numbers of 1 byte: numpy.save writes float8 (e5m2) so, which is not "
               "supported; save array.astype('float16') or 'float32'"},
    added_type{"int4", "int4, which is not supported; save array.astype('int8')"},
    added_type{"uint4", "uint4, which is not supported; save array.astype('uint8')"},
    added_type{"int2", "int2, which is not supported; save array.astype('int8')"},
    added_type{"uint2", "uint2, which is not supported; save array.astype('uint8')"},
    added_type{"V1",
               "raw values of 1 byte, their type not stated: numpy.save writes float8 and int4 so, "
               "which are not supported; save array.astype('float32') or array.astype('int8')"},
    added_type{"V",
               "raw bytes of no stated type; save array.view() of an integer type, or "
               "array.astype('float32')"},
};

std::string_view reason(std::string_view word) {
  for (const auto& [known, words] : added_types)
    if (word == known || ((known == "V" || known.ends_with('_')) && word.starts_with(known)))
      return words;
  const char kind = word.empty() ? '\0' : word.front();
  for (const auto& [kinds, words] : reasons)
    if (kinds.find(kind) != kinds.npos) return words;
  return "of a type that feedline does not know; save an array of bool, integers or floats";
}

/// Takes NumPy's word for the type: "<f4", byte order, kind, bytes.
void set_type(npy_header& header, const npy_literal& literal, const file_field& name) {
  std::endian order = std::endian::native;  // '=', '|', and types without a byte order, as NumPy
                                            // treats them
  std::string_view rest = literal.descr;
  if (!rest.empty() && std::string_view{"<>=|"}.find(rest.front()) != std::string_view::npos) {
    if (rest.front() == '<') order = std::endian::little;
    if (rest.front() == '>') order = std::endian::big;
    rest.remove_prefix(1);
  }
  header.is_date = is_date(rest);
  if (header.is_date) rest = "i8";
  const auto* const known =
      std::find_if(numeric_types.begin(), numeric_types.end(), [rest](const numeric_type& each) {
        return each.word == rest ||
               (rest.size() == 1 && each.letters.find(rest) != each.letters.npos);
      });
  if (known == numeric_types.end())
    throw npy_not_a_field{
        name.error(literal.descr_offset,
                   "the elements ('" + literal.descr + "') are " + std::string{reason(rest)})};
  header.type = known->type;
  header.is_complex = known->is_complex;
  header.is_swapped = size_bytes(known->type) > 1 && order != std::endian::native;
}

void require_samples(const npy_header& header, const npy_literal& literal, const file_field& name) {
  if (header.extents.empty())
    throw npy_not_a_field{
        name.error(literal.shape_offset,
                   "the array is a single number; a dataset needs a dimension that counts its "
                   "samples")};
  if (header.extents.front() == 0)
    throw npy_not_a_field{name.error(literal.shape_offset,
                                     "the array, " + header.describe() + ", holds zero samples")};
  if (std::ranges::count(header.extents, 0U) != 0)
    throw npy_not_a_field{
        name.error(literal.shape_offset, "a dimension of the array, " + header.describe() +
                                             ", is 0, so a sample would hold nothing")};
}

void set_extents(npy_header& header, const npy_literal& literal, const file_field& name,
                 bool any_shape) {
  header.extents = literal.shape;
  if (!any_shape) require_samples(header, literal, name);
  header.is_fortran = literal.fortran_order && header.extents.size() > 1;
  if (header.is_complex && header.is_fortran)
    throw npy_not_a_field{name.error(literal.shape_offset,
                                     "complex numbers in Fortran order are not supported; save "
                                     "numpy.ascontiguousarray(array)")};
  if (header.is_complex) header.extents.push_back(2);
  header.count_payload(literal.shape_offset, name);
}

}  // namespace

bool is_npy(std::span<const std::byte> head) noexcept {
  return begins_with<magic_bytes>(head, {0x93, 'N', 'U', 'M', 'P', 'Y'});
}

bool is_npz(std::span<const std::byte> head) noexcept {
  // APPNOTE.TXT 4.3.7: a local header has the name's length at byte 26, and the name at 30.
  constexpr std::size_t name_at = 30;
  if (head.size() < name_at || !is_zip(head)) return false;
  const std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  const std::size_t length = little_endian(head.subspan(26, 2));
  return length <= head.size() - name_at && text.substr(name_at, length).ends_with(npy_suffix);
}

npy_header read_npy_header(byte_source& file, const file_field& name, bool any_shape) {
  std::uint64_t offset = 0;
  const std::uint64_t length = read_preamble(file, offset, name);
  std::string text(length, '\0');
  const std::size_t got = file.read(std::as_writable_bytes(std::span{text}));
  if (got < length)
    throw name.error(offset + got, "cut short within the header; get the file again");

  const npy_literal literal = parse_npy_literal(text, offset, name);
  npy_header header;
  header.header_bytes = offset + length;
  set_type(header, literal, name);
  set_extents(header, literal, name, any_shape);
  return header;
}

}  // namespace feedline::detail
