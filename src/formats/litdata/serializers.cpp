#include "formats/litdata/serializers.hpp"

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

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;
using maybe_type = std::optional<element_type>;

/// The numbers of PyTorch's types; empty: complex numbers.
maybe_type torch_type(std::uint64_t number) {
  using enum element_type;
  constexpr auto types =
      std::to_array<maybe_type>({f32, f32, f64, f64, {},  {},  {},  {},  f16,     f16, bf16,
                                 u8,  i8,  i16, i16, i32, i32, i64, i64, boolean, u16});
  return number < types.size() ? types[static_cast<std::size_t>(number)] : std::nullopt;
}

/// The numbers of NumPy's types. Those from 11 on depend on the writer's version of NumPy.
maybe_type numpy_type(std::uint64_t number) {
  using enum element_type;
  constexpr auto types =
      std::to_array<element_type>({i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64});
  return number < types.size() ? maybe_type{types[static_cast<std::size_t>(number)]} : std::nullopt;
}

/// A head of a type, a rank and extents, in 4 bytes each.
template <class Number, class TypeOf>
stored_array read_headed(byte_span value, const Number& number_in, const TypeOf& type_of_number) {
  const auto number = [&] { return number_in(take_head(value, 4)); };
  const std::uint64_t type_number = number();
  const maybe_type type = type_of_number(type_number);
  if (!type)
    throw dataset_error{{},
                        "the array is of the type with the number " + std::to_string(type_number) +
                            ", which feedline does not read"};
  const std::uint64_t rank = number();
  require_rank(rank);
  stored_array found{.type = *type};
  for (std::uint64_t i = 0; i < rank; ++i) found.shape.push_back(number());
  found.elements = value;
  return found;
}

stored_array read_tensor(const stored_column&, byte_span value) {
  return read_headed(value, big_endian, torch_type);
}

stored_array read_numpy(const stored_column&, byte_span value) {
  return read_headed(value, little_endian, numpy_type);
}

void become_scalar(stored_column& to, element_type type) {
  to.kind = column_kind::fixed;
  to.type = type;
}

/// @param number Text after "no_header_tensor:" or "no_header_numpy:".
void become_flat(stored_column& to, std::string_view number, maybe_type (*type_of)(std::uint64_t)) {
  std::uint64_t value = ~std::uint64_t{0};
  (void)std::from_chars(number.data(), number.data() + number.size(), value);
  const maybe_type type = type_of(value);
  if (type)
    to.type = *type;
  else
    to.left_out = "is of '" + printable(to.coding) + "', a type that feedline does not read";
}

}  // namespace

stored_column litdata_column(const std::string& name, const std::string& serializer) {
  stored_column made{.name = name, .coding = serializer};
  const std::string_view kind = std::string_view{serializer}.substr(0, serializer.find(':'));
  const auto rest =
      std::string_view{serializer}.substr(std::min(serializer.size(), kind.size() + 1));
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, kind) != names.end();
  };
  if (kind == "int") {
    become_scalar(made, element_type::i64);
  } else if (kind == "float") {
    become_scalar(made, element_type::f64);
  } else if (kind == "bool") {
    become_scalar(made, element_type::boolean);
  } else if (kind == "no_header_tensor") {
    become_flat(made, rest, torch_type);
  } else if (kind == "no_header_numpy") {
    become_flat(made, rest, numpy_type);
  } else if (is_one_of({"tensor", "numpy", "pil"})) {
    made.kind = column_kind::array;
    made.read_array = kind == "tensor"  ? read_tensor
                      : kind == "numpy" ? read_numpy
                                        : read_pil_array;
  } else if (is_one_of({"jpeg", "image"})) {
    made.kind = column_kind::image;
  } else if (kind == "pickle") {
    made.left_out = "holds pickles, and feedline never unpickles; write it as tensors or bytes";
  } else if (!is_one_of({"str", "text", "bytes", "file", "video", "audio", "nifti", "mesh", "pdf",
                         "tifffile"})) {
    made.left_out = "is of the serializer '" + printable(serializer) +
                    "', which feedline does not read; write it as tensors, numbers or bytes";
  }
  return made;
}

}  // namespace feedline::detail
