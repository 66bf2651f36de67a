#pragma once

#include <feedline/ragged/pad.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

namespace feedline::python {

/// A value of padding as Python gives it.
using padding_argument = std::variant<std::int64_t, double>;
using padding_arguments = std::map<std::string, padding_argument>;

[[nodiscard]] inline padding_value to_padding(const padding_argument& given) {
  return std::visit([](auto number) { return padding_value{number}; }, given);
}

[[nodiscard]] inline std::map<std::string, padding_value> to_padding(
    const padding_arguments& given) {
  std::map<std::string, padding_value> values;
  for (const auto& [name, value] : given) values.emplace(name, to_padding(value));
  return values;
}

}  // namespace feedline::python
