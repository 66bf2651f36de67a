#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/attributes.hpp"

#include "detail/half.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace feedline::detail {
namespace {

/// A number, or a list of one number.
std::optional<double> one_number(const zarr_json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_array() && value.size() == 1 && value.front().is_number())
    return value.front().get<double>();
  return std::nullopt;
}

/// The bytes of a text in base64; nothing for another text.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char letter : text) {
    const std::size_t value = letters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> held));
  }
  return bytes;
}

/// A floating-point `_FillValue`, as xarray writes it for version 3: the bytes of a binary64 in
/// base64.
std::optional<double> coded_number(const zarr_json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto bytes = from_base64(value.get_ref<const std::string&>());
  if (!bytes || bytes->size() != sizeof(double)) return std::nullopt;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof bits; ++i) bits |= std::uint64_t{(*bytes)[i]} << (8 * i);
  return std::bit_cast<double>(bits);
}

/// An element as in memory.
double number_of(element_type type, const std::vector<std::byte>& element) {
  const auto as = [&]<class Number>(Number value) {
    std::memcpy(&value, element.data(), sizeof value);
    return value;
  };
  switch (type) {
    case element_type::boolean:
    case element_type::u8:
      return as(std::uint8_t{});
    case element_type::i8:
      return as(std::int8_t{});
    case element_type::u16:
      return as(std::uint16_t{});
    case element_type::i16:
      return as(std::int16_t{});
    case element_type::u32:
      return as(std::uint32_t{});
    case element_type::i32:
      return as(std::int32_t{});
    case element_type::u64:
      return static_cast<double>(as(std::uint64_t{}));
    case element_type::i64:
      return static_cast<double>(as(std::int64_t{}));
    case element_type::f16:
      return from_f16(as(std::uint16_t{}));
    case element_type::bf16:
      return from_bf16(as(std::uint16_t{}));
    case element_type::f32:
      return as(float{});
    case element_type::f64:
      return as(double{});
  }
  return 0;
}

class attribute_reader {
 public:
  explicit attribute_reader(const zarr_json* attributes)
      : attributes_{attributes != nullptr && attributes->is_object() ? attributes : nullptr} {}

  [[nodiscard]] const zarr_json* find(const char* name) const {
    if (attributes_ == nullptr) return nullptr;
    const auto found = attributes_->find(name);
    return found == attributes_->end() ? nullptr : &*found;
  }
  [[nodiscard]] std::optional<value_packing::number> packed_number(const char* name) const {
    const zarr_json* const value = find(name);
    const auto number = value == nullptr ? std::nullopt : one_number(*value);
    if (!number) return std::nullopt;
    return value_packing::number{*number, false};  // Python's numbers are binary64
  }
  /// Adds the numbers of an attribute, which may be a list.
  void add_missing(const char* name, std::vector<double>& missing) const {
    const zarr_json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_array()) return add(*value, missing);
    for (const zarr_json& each : *value) add(each, missing);
  }

 private:
  static void add(const zarr_json& value, std::vector<double>& missing) {
    const auto number = value.is_number() ? one_number(value) : coded_number(value);
    if (number && !std::isnan(*number) && std::ranges::count(missing, *number) == 0)
      missing.push_back(*number);
  }

  const zarr_json* attributes_;
};

}  // namespace

value_packing packing_attributes(const zarr_json* attributes, const zarr_array& array,
                                 bool fill_is_missing) {
  if (array.type.is_complex || array.type.is_date || array.type.type == element_type::boolean)
    return {};
  const attribute_reader from{attributes};
  value_packing packing{.scale_factor = from.packed_number("scale_factor"),
                        .add_offset = from.packed_number("add_offset")};
  from.add_missing("missing_value", packing.missing);
  if (!fill_is_missing) {
    from.add_missing("_FillValue", packing.missing);
  } else if (const double fill = number_of(array.type.type, array.fill);
             !std::isnan(fill) && std::ranges::count(packing.missing, fill) == 0) {
    packing.missing.push_back(fill);
    packing.has_default_missing = true;
  }
  if (const zarr_json* const is_unsigned = from.find("_Unsigned"); is_unsigned != nullptr)
    if (*is_unsigned == "true" || *is_unsigned == "false")
      packing.is_unsigned = *is_unsigned == "true";
  return packing;
}

std::string units_attribute(const zarr_json* attributes) {
  const zarr_json* const units = attribute_reader{attributes}.find("units");
  return units != nullptr && units->is_string() ? units->get<std::string>() : "";
}

}  // namespace feedline::detail

#endif
