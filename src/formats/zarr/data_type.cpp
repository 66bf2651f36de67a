#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/data_type.hpp"

#include "detail/half.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace feedline::detail {
namespace {

struct named_type {
  std::string_view v2;  ///< NumPy's letters without the order of bytes
  std::string_view v3;
  zarr_type type;
};

using enum element_type;

/// Complex numbers are pairs; dates and durations are counts.
constexpr std::array named_types{
    named_type{"b1", "bool", {boolean}},
    named_type{"i1", "int8", {i8}},
    named_type{"i2", "int16", {i16}},
    named_type{"i4", "int32", {i32}},
    named_type{"i8", "int64", {i64}},
    named_type{"u1", "uint8", {u8}},
    named_type{"u2", "uint16", {u16}},
    named_type{"u4", "uint32", {u32}},
    named_type{"u8", "uint64", {u64}},
    named_type{"f2", "float16", {f16}},
    named_type{"bfloat16", "bfloat16", {bf16}},
    named_type{"f4", "float32", {f32}},
    named_type{"f8", "float64", {f64}},
    named_type{"c8", "complex64", {f32, true}},
    named_type{"c16", "complex128", {f64, true}},
    named_type{"M8", "numpy.datetime64", {i64, false, true}},
    named_type{"m8", "numpy.timedelta64", {i64, false, true}},
};

constexpr const char* known_types =
    "fields hold booleans, integers, floating-point and complex numbers of up to 64 bits a part, "
    "and dates as integers; store the values as one of these";

/// The first `bytes` bytes of a word, as in memory.
void append_bits(std::vector<std::byte>& to, std::uint64_t bits, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

std::uint64_t bits_of(double value, element_type type) {
  switch (type) {
    case f16:
      return to_f16(static_cast<float>(value));
    case bf16:
      return to_bf16(static_cast<float>(value));
    case f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    default:
      return std::bit_cast<std::uint64_t>(value);
  }
}

/// A quiet NaN with no other bit set, as NumPy writes.
std::uint64_t nan_bits(element_type type) noexcept {
  switch (type) {
    case f16:
      return 0x7e00;
    case bf16:
      return 0x7fc0;
    case f32:
      return 0x7fc00000;
    default:
      return 0x7ff8000000000000;
  }
}

/// The bits that "0x7fc00001" says, if it has just as many digits as the type.
std::optional<std::uint64_t> hex_bits(std::string_view text, element_type type) noexcept {
  if (!text.starts_with("0x") || text.size() != 2 + 2 * size_bytes(type)) return std::nullopt;
  std::uint64_t bits = 0;
  const auto read = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return bits;
}

std::optional<std::uint64_t> real_bits(const zarr_json& value, element_type type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) return bits_of(value.get<double>(), type);
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  if (text == "NaN") return nan_bits(type);
  if (text == "Infinity") return bits_of(infinity, type);
  if (text == "-Infinity") return bits_of(-infinity, type);
  return hex_bits(text, type);
}

std::optional<std::uint64_t> signed_bits(std::int64_t number, element_type type) {
  const std::size_t bits = 8 * size_bytes(type);
  const bool is_signed = type == i8 || type == i16 || type == i32 || type == i64;
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  const auto word = static_cast<std::uint64_t>(number);
  const bool fits = number >= 0 ? word <= most : is_signed && ~word <= most;
  return fits ? std::optional{word} : std::nullopt;
}

std::optional<std::uint64_t> whole_bits(const zarr_json& value, element_type type) {
  constexpr auto most_signed = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > most_signed)
    return type == u64 ? std::optional{value.get<std::uint64_t>()} : std::nullopt;
  if (value.is_number_integer()) return signed_bits(value.get<std::int64_t>(), type);
  if (value.is_number_float()) {  // some programs write 0.0
    const auto number = value.get<double>();
    if (number != std::floor(number) || std::abs(number) > 1e15) return std::nullopt;
    return signed_bits(static_cast<std::int64_t>(number), type);
  }
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return std::nullopt;
}

std::optional<std::uint64_t> part_bits(const zarr_json& value, const zarr_type& type) {
  if (type.is_date && value.is_string() && value.get_ref<const std::string&>() == "NaT")
    return std::uint64_t{1} << 63U;
  if (type.type != boolean)
    return is_whole(type.type) ? whole_bits(value, type.type) : real_bits(value, type.type);
  const auto number = whole_bits(value, u8);
  return number && *number <= 1 ? number : std::nullopt;
}

}  // namespace

zarr_stored_type parse_v2_type(const zarr_json& value, const zarr_members& array) {
  const auto refuse = [&] {
    array.leave_out(
        value.is_array()
            ? std::string{"holds records, which fields are not; store each member as an "
                          "array of its own"}
            : "is of type " + shown(value) + ", and " + known_types);
  };
  if (!value.is_string()) refuse();
  std::string_view text = value.get_ref<const std::string&>();
  const char order = text.empty() ? '\0' : text.front();
  if (order == '<' || order == '>' || order == '|') text.remove_prefix(1);
  const std::string_view letters = text.substr(0, text.find('['));  // a date's unit follows
  const auto* const found = std::ranges::find(named_types, letters, &named_type::v2);
  if (found == named_types.end() || (letters.size() != text.size() && !found->type.is_date))
    refuse();
  if (order == '|' && size_bytes(found->type.type) > 1)
    array.refuse("is of type " + shown(value) + ", which does not say the order of its bytes");
  return {found->type, order == '>'};
}

zarr_type parse_v3_type(const zarr_json& value, const zarr_members& array) {
  const zarr_json* name = &value;
  if (value.is_object()) {
    const auto found = value.find("name");
    if (found != value.end()) name = &*found;
  }
  const auto* const found =
      name->is_string()
          ? std::ranges::find(named_types, std::string_view{name->get_ref<const std::string&>()},
                              &named_type::v3)
          : named_types.end();
  if (found == named_types.end() || (value.is_object() && !found->type.is_date))
    array.leave_out("is of type " + shown(*name) + ", and " + known_types);
  return found->type;
}

std::vector<std::byte> parse_fill(const zarr_json& value, const zarr_type& type,
                                  const zarr_members& array) {
  std::vector<std::byte> fill;
  if (value.is_null()) {
    fill.resize(type.bytes());
    return fill;
  }
  const auto add = [&](const zarr_json& part) {
    const auto bits = part_bits(part, type);
    if (!bits)
      array.refuse("has the fill value " + shown(value) + ", which does not fit its type" +
                   (type.is_complex ? ": a list of two numbers" : ""));
    append_bits(fill, *bits, size_bytes(type.type));
  };
  if (!type.is_complex) {
    add(value);
  } else if (value.is_array() && value.size() == 2) {
    add(value[0]);
    add(value[1]);
  } else if (value.is_number()) {  // zarr-python 2 wrote a real number
    add(value);
    append_bits(fill, 0, size_bytes(type.type));
  } else {
    add(zarr_json{});
  }
  return fill;
}

}  // namespace feedline::detail

#endif
