#pragma once

#include <cmath>

#include <nlohmann/json.hpp>

// Numbers of attributes as JSON: NaN and infinities, which JSON does not have, are texts.

namespace convert {

/// Whether it is a text that stands for such a number.
[[nodiscard]] inline bool is_number_word(const nlohmann::json& value) {
  return value == "NaN" || value == "Infinity" || value == "-Infinity";
}

[[nodiscard]] inline double number_of(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::nan("");
  return value == "-Infinity" ? -HUGE_VAL : HUGE_VAL;
}

[[nodiscard]] inline nlohmann::json json_of_number(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return number;
}

}  // namespace convert
