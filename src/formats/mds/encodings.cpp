#include "formats/mds/encodings.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/printable.hpp"
#include "formats/columns/arrays.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;
using array_shape = std::vector<std::uint64_t>;

/// NumPy's names, and the numbers in heads of arrays.
struct mds_type {
  std::string_view name;
  unsigned number;
  element_type type;
};

constexpr auto types = std::to_array<mds_type>({{"uint8", 8, element_type::u8},
                                                {"int8", 9, element_type::i8},
                                                {"uint16", 16, element_type::u16},
                                                {"int16", 17, element_type::i16},
                                                {"float16", 18, element_type::f16},
                                                {"uint32", 32, element_type::u32},
                                                {"int32", 33, element_type::i32},
                                                {"float32", 34, element_type::f32},
                                                {"uint64", 64, element_type::u64},
                                                {"int64", 65, element_type::i64},
                                                {"float64", 66, element_type::f64}});

std::optional<element_type> type_named(std::string_view name) {
  const auto* const found = std::ranges::find(types, name, &mds_type::name);
  return found == types.end() ? std::nullopt : std::optional{found->type};
}

unsigned take_byte(byte_span& from) {
  return std::to_integer<unsigned>(take_head(from, 1).front());
}

/// An array whose type the encoding says: the rank in six bits, the size of an extent in two, and
/// the extents.
stored_array read_shaped(const stored_column& of, byte_span value) {
  const unsigned head = take_byte(value);
  require_rank(head >> 2);
  stored_array found{.type = of.type};
  for (unsigned i = 0; i < head >> 2; ++i)
    found.shape.push_back(little_endian(take_head(value, std::size_t{1} << (head & 3))));
  found.elements = value;
  return found;
}

stored_array read_typed_and_shaped(const stored_column& of, byte_span value) {
  const unsigned number = take_byte(value);
  const auto* const type = std::ranges::find(types, number, &mds_type::number);
  if (type == types.end())
    throw dataset_error{
        {}, "the array is of type " + std::to_string(number) + ", which MDS does not have"};
  stored_array found = read_shaped(of, value);
  found.type = type->type;
  return found;
}

/// "3,32,32"; empty if it is anything else.
array_shape shape_in(std::string_view text) {
  array_shape shape;
  for (;;) {
    std::uint64_t extent = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (fault != std::errc{} || extent == 0 || shape.size() == max_array_rank) return {};
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return shape;
    if (text.front() != ',') return {};
    text.remove_prefix(1);
  }
}

void become_fixed(stored_column& to, element_type type, array_shape shape) {
  to.kind = column_kind::fixed;
  to.type = type;
  to.stored_bytes = size_bytes(type);
  for (const std::uint64_t each : shape)
    if (__builtin_mul_overflow(to.stored_bytes, each, &to.stored_bytes))
      to.left_out = "has more elements than 64 bits can count";
  to.shape = std::move(shape);
}

/// @param rest The encoding after "ndarray": "", ":uint8", ":uint8:3,4".
void become_array(stored_column& to, std::string_view rest) {
  to.kind = column_kind::array;
  to.read_array = read_typed_and_shaped;
  if (rest.empty()) return;
  rest.remove_prefix(1);
  const std::size_t colon = std::min(rest.find(':'), rest.size());
  const auto type = type_named(rest.substr(0, colon));
  const array_shape shape = colon == rest.size() ? array_shape{} : shape_in(rest.substr(colon + 1));
  if (!type || (colon != rest.size() && shape.empty())) {
    to.left_out = "is of the encoding '" + printable(to.coding) + "', which MDS does not have";
    return;
  }
  to.type = *type;
  to.read_array = read_shaped;
  if (!shape.empty()) become_fixed(to, *type, shape);
}

}  // namespace

stored_column mds_column(const std::string& name, const std::string& encoding) {
  stored_column made{.name = name, .coding = encoding};
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, encoding) != names.end();
  };
  if (encoding == "int") {
    become_fixed(made, element_type::i64, {});
  } else if (const auto type = type_named(encoding)) {
    become_fixed(made, *type, {});
  } else if (encoding == "ndarray" || encoding.starts_with("ndarray:")) {
    become_array(made, std::string_view{encoding}.substr(7));
  } else if (encoding == "pil") {
    made.kind = column_kind::array;
    made.read_array = read_pil_array;
  } else if (is_one_of({"jpeg", "png"})) {
    made.kind = column_kind::image;
  } else if (is_one_of({"str_int", "str_float"})) {
    made.kind = column_kind::digits;
    made.type = encoding == "str_int" ? element_type::i64 : element_type::f64;
  } else if (encoding == "pkl") {
    made.left_out = "holds pickles, and feedline never unpickles; write it as ndarray or bytes";
  } else if (encoding.starts_with("list[") || is_one_of({"jpeg_array", "jpegarray"})) {
    made.left_out = "is of the encoding '" + printable(encoding) +
                    "', several images a sample; write each as a column of its own";
  } else if (!is_one_of({"bytes", "str", "str_decimal", "json"})) {
    made.left_out =
        "is of the encoding '" + printable(encoding) + "', which feedline does not know";
  }
  return made;
}

}  // namespace feedline::detail
