#include <feedline/error.hpp>

#include "formats/zarr/json/document.hpp"
#include "formats/zarr/stores/store.hpp"
#include "programs/convert/attributes/attributes.hpp"
#include "programs/convert/attributes/json_number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace convert {
namespace {

using feedline::element_type;
using nlohmann::json;

bool is_float(element_type type) {
  return type >= element_type::f16 && type != element_type::boolean;
}

/// JSON as Python writes it, with bare words for numbers that JSON does not have.
std::string text_of(const json& value) {
  if (is_number_word(value)) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const json& each : value) text += (text.empty() ? "" : ", ") + text_of(each);
  return '[' + text + ']';
}

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes of a binary64 in base64: how xarray stores `_FillValue` in version 3.
std::string base64_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::array<unsigned, 9> bytes{};  // the ninth is padding
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned>(bits >> (8 * i) & 0xffU);
  std::string text;
  for (std::size_t i = 0; i < 9; i += 3) {
    const unsigned group = bytes[i] << 16U | bytes[i + 1] << 8U | bytes[i + 2];
    for (const unsigned shift : {18U, 12U, 6U, 0U}) text += letters[group >> shift & 63U];
  }
  text.back() = '=';
  return text;
}

std::optional<double> from_base64(const std::string& text) {
  if (text.size() != 12 || text.back() != '=') return std::nullopt;
  std::array<std::uint64_t, 9> bytes{};
  for (std::size_t i = 0; i < 12; i += 4) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t at = i + k == 11 ? 0 : letters.find(text[i + k]);
      if (at == std::string_view::npos) return std::nullopt;
      group = group << 6U | static_cast<unsigned>(at);
    }
    for (std::size_t k = 0; k < 3; ++k) bytes[i / 4 * 3 + k] = group >> (16 - 8 * k) & 0xffU;
  }
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits |= bytes[i] << (8 * i);
  return std::bit_cast<double>(bits);
}

json parsed(const feedline::detail::zarr_store& store, const std::string& key,
            const std::string& object) {
  const auto text = store.text(key);
  if (!text) return json::object();
  return feedline::detail::parse_zarr_json(*text, {store.path_of(key), object, ""},
                                           feedline::detail::zarr_words::objects);
}

/// Whether it is a number that JSON does not have, as the parser gives it.
bool is_marked_word(const json& value) {
  return value.is_object() && value.size() == 1 && value.contains("") &&
         is_number_word(value.at(""));
}

/// The value with texts for such numbers.
json with_words(const json& value) {
  if (is_marked_word(value)) return value.at("");
  json same = value;
  if (value.is_structured())
    for (json& each : same) each = with_words(each);
  return same;
}

/// Whether HDF5 can have it, and JSON as a simple list.
bool is_simple(const json& value) {
  const auto is_number = [](const json& each) { return each.is_number() || is_marked_word(each); };
  const auto is_single = [&](const json& each) {
    return is_number(each) || each.is_string() || each.is_boolean();
  };
  if (!value.is_array()) return is_single(value);
  return !value.empty() && std::all_of(value.begin(), value.end(), [&](const json& each) {
    return is_single(each) && is_number(each) == is_number(value.front()) &&
           each.is_boolean() == value.front().is_boolean();
  });
}

/// The number of an array's `_FillValue`; null: it has another type.
json fill_number(const json& value) {
  if (value.is_array() && value.size() == 1) return fill_number(value.front());
  if (value.is_string())
    if (const auto number = from_base64(value.get<std::string>())) return json_of_number(*number);
  const json number = with_words(value);
  return number.is_number() || is_number_word(number) ? number : json();
}

/// A fill value of integers; empty: the type does not have it.
std::string whole_fill(const json& value, element_type type) {
  if (type == element_type::boolean) return {};
  const bool is_signed = static_cast<unsigned>(type) % 2 == 1;
  const auto bits = static_cast<unsigned>(8 * feedline::size_bytes(type)) - (is_signed ? 1U : 0U);
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
  bool fits = false;
  if (value.is_number_unsigned()) {
    fits = value.get<std::uint64_t>() <= most;
  } else if (value.is_number_integer()) {  // below 0
    fits = is_signed && ~value.get<std::int64_t>() <= static_cast<std::int64_t>(most);
  } else {
    const double number = number_of(value);
    const double end = std::ldexp(1.0, static_cast<int>(bits));
    if (number != std::floor(number) || number >= end || number < (is_signed ? -end : 0)) return {};
    return number < 0 ? std::to_string(static_cast<std::int64_t>(number))
                      : std::to_string(static_cast<std::uint64_t>(number));
  }
  return fits ? value.dump() : "";
}

}  // namespace

attributes read_zarr_attributes(const std::string& store, const std::string& object) {
  const auto opened = feedline::detail::open_zarr_store(store);
  const std::string folder = object.empty() ? object : object + '/';
  const json v3 = parsed(*opened, folder + "zarr.json", object);
  const bool is_v3 = !v3.empty();
  const json listed =
      is_v3 ? v3.value("attributes", json::object()) : parsed(*opened, folder + ".zattrs", object);
  attributes found;
  if (!listed.is_object()) return found;
  bool is_array = false;
  const auto add_names = [&](const json& names) {
    if (!names.is_array()) return;
    for (const json& each : names)
      found.dimensions.push_back(each.is_string() ? each.get<std::string>() : "");
  };
  if (is_v3) {
    add_names(v3.value("dimension_names", json()));
    is_array = v3.value("node_type", "") == "array";
  } else {
    add_names(listed.value("_ARRAY_DIMENSIONS", json()));
    const json array = parsed(*opened, folder + ".zarray", object);
    is_array = !array.empty();
    const json fill = with_words(array.value("fill_value", json()));
    if (fill.is_number() || is_number_word(fill)) found.missing = fill.dump();
  }
  for (const auto& [name, value] : listed.items()) {
    if (is_of_storage(name)) continue;
    if (const json fill = is_array && name == "_FillValue" ? fill_number(value) : json();
        !fill.is_null()) {
      found.missing = fill.dump();
    } else if (is_simple(value)) {
      const json& first = value.is_array() ? value.front() : value;
      found.all.push_back(
          {.name = name, .value = with_words(value).dump(), .is_text = first.is_string()});
    } else {
      tell_left_out(store, object, name,
                    "it is " + with_words(value).dump().substr(0, 60) +
                        ", but attributes are numbers, texts, or lists of these");
    }
  }
  return found;
}

std::string zarr_fill_json(const attributes& of, const feedline::field& field) {
  if (of.missing.empty()) return {};
  const json value = json::parse(of.missing);
  if (is_float(field.type))
    return is_number_word(value) ? value.dump() : json(number_of(value)).dump();
  if (std::string whole = whole_fill(value, field.type); !whole.empty()) return whole;
  tell_left_out("the output", field.name, "_FillValue",
                "it is " + of.missing + ", which is no " + std::string{to_string(field.type)});
  return {};
}

std::string zarr_attributes_json(const attributes& of, const feedline::field& field, bool is_v3) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : ", ") + json(name).dump() + ": " + value;
  };
  for (const attribute& each : of.all)
    add(each.name, each.is_text ? each.value : text_of(json::parse(each.value)));
  if (is_v3 && !zarr_fill_json(of, field).empty())
    add("_FillValue", is_float(field.type)
                          ? '"' + base64_of(number_of(json::parse(of.missing))) + '"'
                          : zarr_fill_json(of, field));
  const bool has_names = std::ranges::count(of.dimensions, std::string{}) == 0;
  if (const std::string names = zarr_dimensions_json(of, field);
      !is_v3 && has_names && !names.empty())
    add("_ARRAY_DIMENSIONS", names);
  return '{' + text + '}';
}

std::string zarr_dimensions_json(const attributes& of, const feedline::field& field) {
  if (of.dimensions.size() != field.shape.size() + 1) return {};
  json names = json::array();
  for (const std::string& each : of.dimensions) names.push_back(each.empty() ? json() : json(each));
  return names.dump();
}

}  // namespace convert
