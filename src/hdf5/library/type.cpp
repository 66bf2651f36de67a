// Over 250 lines: one short description for each class of types that HDF5 has.

#include "hdf5/library/type.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::string_view what_serves =
    "; a field can hold integers and bit fields of 1, 2, 4 or 8 bytes, times of 4 or 8, IEEE half, "
    "single and double precision, bfloat16, complex numbers of these, enumerations of these "
    "integers, references to objects, opaque values and strings of fixed size, and fixed-size "
    "arrays of all these";

hdf5_element refuse(const std::string& what) {
  return {.refusal = "its values are of HDF5 type " + what + std::string{what_serves}};
}

hdf5_element as(element_type type, hid_t native) {
  return {.type = type, .memory = hdf5_type_id{H5Tcopy(native)}};
}

/// Notes how numbers are stored, if they differ by more than byte order.
hdf5_element stored_as(hid_t type, hdf5_element element) {
  if (!element.refusal.empty()) return element;
  const std::size_t bytes = H5Tget_size(type);
  const H5T_order_t order = H5Tget_order(type);
  const int first_bit = H5Tget_offset(type);
  // For such a type the library would write past the bytes.
  if (first_bit < 0 || H5Tget_precision(type) + static_cast<std::size_t>(first_bit) > 8 * bytes)
    return refuse("number of " + std::to_string(H5Tget_precision(type)) + " bits from bit " +
                  std::to_string(first_bit) + " of " + std::to_string(bytes) + " bytes");
  if (H5Tget_precision(type) != 8 * bytes || H5Tget_offset(type) != 0)
    element.indirect = "its numbers have " + std::to_string(H5Tget_precision(type)) +
                       " bits, which are kept in " + std::to_string(8 * bytes);
  else if (bytes > 1 && order != H5T_ORDER_LE && order != H5T_ORDER_BE)
    element.indirect = "its numbers have a byte order that feedline does not know";
  else if (bytes > 1 && order != H5Tget_order(H5T_NATIVE_INT))
    element.swapped_bytes = bytes;
  return element;
}

hdf5_element describe_whole_number(hid_t type) {
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  switch (H5Tget_size(type)) {
    case 1:
      return is_signed ? as(element_type::i8, H5T_NATIVE_INT8)
                       : as(element_type::u8, H5T_NATIVE_UINT8);
    case 2:
      return is_signed ? as(element_type::i16, H5T_NATIVE_INT16)
                       : as(element_type::u16, H5T_NATIVE_UINT16);
    case 4:
      return is_signed ? as(element_type::i32, H5T_NATIVE_INT32)
                       : as(element_type::u32, H5T_NATIVE_UINT32);
    case 8:
      return is_signed ? as(element_type::i64, H5T_NATIVE_INT64)
                       : as(element_type::u64, H5T_NATIVE_UINT64);
    default:
      return refuse("integer of " + std::to_string(H5Tget_size(type)) + " bytes");
  }
}

/// The library does not convert bit fields to integers: they are read unchanged, in the machine's
/// byte order.
hdf5_element describe_bits(hid_t type) {
  auto element = describe_whole_number(type);
  if (!element.refusal.empty()) return element;
  element = as(element.type, type);
  if (H5Tget_size(type) > 1) H5Tset_order(element.memory.get(), H5Tget_order(H5T_NATIVE_INT));
  return stored_as(type, std::move(element));
}

/// Describes a time as a signed integer, like `time_t`. To the library, times are bits without
/// meaning, whose byte order it does not change.
hdf5_element describe_time(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  const std::string name = "time of " + std::to_string(8 * bytes) + " bits";
  if (bytes != 4 && bytes != 8) return refuse(name);
  auto element = stored_as(type, as(bytes == 4 ? element_type::i32 : element_type::i64, type));
  if (!element.refusal.empty()) return element;
  if (!element.indirect.empty()) return refuse(name + ", some of which are not used");
  element.left_swapped_bytes = element.swapped_bytes;
  return element;
}

/// Describes bytes that have no meaning to the library.
hdf5_element describe_bytes(hid_t type) {
  auto element = as(element_type::u8, type);
  element.shape = {H5Tget_size(type)};
  return element;
}

/// Describes a reference to an object as a number: the address of the object's header in its file.
/// The library reads it, because it may have another size in the file.
hdf5_element describe_reference(hid_t type) {
  if (H5Tequal(type, H5T_STD_REF_DSETREG) > 0) return refuse("reference to a region of a dataset");
  if (H5Tequal(type, H5T_STD_REF_OBJ) <= 0) return refuse("reference of HDF5 1.12 and newer");
  auto element = as(element_type::u64, H5T_STD_REF_OBJ);
  element.is_reference = true;
  element.indirect = "its values are references";
  return element;
}

/// The byte order of a date or a duration of NumPy, as h5py stores it: an opaque value of 8 bytes
/// with a tag such as "NUMPY:<M8[ns]". Nothing for another opaque value.
std::optional<char> numpy_date_order(hid_t type) {
  if (H5Tget_size(type) != 8) return std::nullopt;
  char* const text = H5Tget_tag(type);
  const std::string tag{text != nullptr ? text : ""};
  H5free_memory(text);
  constexpr std::string_view mark = "NUMPY:";
  if (!tag.starts_with(mark) || tag.size() < mark.size() + 3) return std::nullopt;
  const std::string_view words = std::string_view{tag}.substr(mark.size());
  const bool is_date = words.substr(1).starts_with("M8") || words.substr(1).starts_with("m8");
  if (!is_date || (words.front() != '<' && words.front() != '>')) return std::nullopt;
  return words.front();
}

/// Describes an opaque value: dates and durations of NumPy are counts, all others are bytes.
hdf5_element describe_opaque(hid_t type) {
  const auto order = numpy_date_order(type);
  if (!order) return describe_bytes(type);
  auto element = as(element_type::i64, type);
  const bool is_little = H5Tget_order(H5T_NATIVE_INT) == H5T_ORDER_LE;
  if ((*order == '<') != is_little) element.swapped_bytes = 8;
  element.left_swapped_bytes = element.swapped_bytes;  // the library does not reverse opaque values
  return element;
}

/// A floating-point format, by its bits.
struct float_format {
  std::size_t bytes;
  std::size_t bias;
  std::size_t exponent_bits = 0;
  std::size_t mantissa_bits = 0;

  friend bool operator==(const float_format&, const float_format&) = default;
};

constexpr std::array<std::pair<element_type, float_format>, 4> float_formats{{
    {element_type::f16, {2, 15, 5, 10}},
    {element_type::bf16, {2, 127, 8, 7}},
    {element_type::f32, {4, 127, 8, 23}},
    {element_type::f64, {8, 1023, 11, 52}},
}};

/// The element type with the same format in either byte order; nothing if feedline has none.
std::optional<element_type> float_type_of(hid_t type) {
  const H5T_order_t order = H5Tget_order(type);
  float_format found{H5Tget_size(type), H5Tget_ebias(type)};
  std::size_t sign_at = 0;
  std::size_t exponent_at = 0;
  std::size_t mantissa_at = 0;
  if ((order != H5T_ORDER_LE && order != H5T_ORDER_BE) ||
      H5Tget_fields(type, &sign_at, &exponent_at, &found.exponent_bits, &mantissa_at,
                    &found.mantissa_bits) < 0 ||
      sign_at != 8 * found.bytes - 1 || exponent_at != found.mantissa_bits || mantissa_at != 0 ||
      H5Tget_norm(type) != H5T_NORM_IMPLIED)
    return std::nullopt;
  for (const auto& [element, format] : float_formats)
    if (format == found) return element;
  return std::nullopt;
}

hdf5_element describe_float(hid_t type) {
  const auto format = float_type_of(type);
  if (!format)
    return refuse("floating-point of " + std::to_string(H5Tget_size(type)) +
                  " bytes in a format of its own");
  // The memory type is not a native type, because two of the formats have none. It is the file's
  // own, in the machine's byte order.
  auto element = as(*format, type);
  H5Tset_order(element.memory.get(), H5Tget_order(H5T_NATIVE_DOUBLE));
  return stored_as(type, std::move(element));
}

/// Whether this is h5py's type for NumPy's bool: an enumeration of two one-byte integers.
bool is_boolean(hid_t type) {
  constexpr std::array<const char*, 2> names{"FALSE", "TRUE"};
  if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return false;
  for (unsigned char wanted = 0; wanted < 2; ++wanted) {
    unsigned char value = 0;
    if (H5Tenum_valueof(type, names[wanted], &value) < 0 || value != wanted) return false;
  }
  return true;
}

hdf5_element describe_enumeration(const hdf5_session& hdf5, hid_t type) {
  const hdf5_type_id base{H5Tget_super(type)};
  auto element = describe_type(hdf5, base.get());
  if (element.refusal.empty() && is_boolean(type)) element.type = element_type::boolean;
  return element;
}

/// Describes h5py's type for NumPy's complex: two equal numbers one after the other, and nothing
/// else. They become a last dimension of 2.
hdf5_element describe_compound(const hdf5_session& hdf5, hid_t type) {
  const auto refusal = [] { return refuse("class 'compound'"); };
  if (H5Tget_nmembers(type) != 2) return refusal();
  const hdf5_type_id real{H5Tget_member_type(type, 0)};
  const hdf5_type_id imaginary{H5Tget_member_type(type, 1)};
  if (!real || !imaginary || H5Tequal(real.get(), imaginary.get()) <= 0 ||
      H5Tget_class(real.get()) != H5T_FLOAT)
    return refusal();
  auto element = describe_type(hdf5, real.get());
  const std::size_t bytes = H5Tget_size(real.get());
  if (!element.refusal.empty() || H5Tget_member_offset(type, 0) != 0 ||
      H5Tget_member_offset(type, 1) != bytes || H5Tget_size(type) != 2 * bytes)
    return refusal();
  hdf5_type_id memory{H5Tcreate(H5T_COMPOUND, 2 * bytes)};
  for (unsigned member = 0; member < 2; ++member) {
    char* const name = H5Tget_member_name(type, member);
    H5Tinsert(memory.get(), name, member * bytes, element.memory.get());
    H5free_memory(name);
  }
  element.memory = std::move(memory);
  element.shape = {2};
  return element;
}

}  // namespace

hdf5_element describe_type(const hdf5_session& hdf5, hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return stored_as(type, describe_whole_number(type));
    case H5T_FLOAT:
      return describe_float(type);
    case H5T_TIME:
      return describe_time(type);
    case H5T_ENUM:
      return describe_enumeration(hdf5, type);
    case H5T_ARRAY:
      return describe_array_of(describe_type(hdf5, hdf5_type_id{H5Tget_super(type)}.get()), type);
    case H5T_COMPOUND:
      return describe_compound(hdf5, type);
    case H5T_BITFIELD:
      return describe_bits(type);
    case H5T_OPAQUE:
      return describe_opaque(type);
    case H5T_STRING:
      if (H5Tis_variable_str(type) > 0) return refuse("string of variable length");
      return describe_bytes(type);
    case H5T_REFERENCE:
      return describe_reference(type);
    case H5T_VLEN:
      return refuse("class 'variable-length'");
    default:
      return refuse("class 'unknown'");
  }
}

hdf5_element describe_array_of(hdf5_element each, hid_t array) {
  if (!each.refusal.empty()) return each;
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Tget_array_dims2(array, extents.data());
  if (rank < 0) return refuse("array, which the library cannot describe");
  each.memory = hdf5_type_id{
      H5Tarray_create2(each.memory.get(), static_cast<unsigned>(rank), extents.data())};
  each.shape.insert(each.shape.begin(), extents.begin(), extents.begin() + rank);
  return each;
}

}  // namespace feedline::detail
