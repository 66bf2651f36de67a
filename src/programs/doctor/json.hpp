#pragma once

#include "detail/json/json_object.hpp"
#include "programs/doctor/report.hpp"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

namespace doctor {

/// Text that is JSON already.
struct raw {
  std::string text;
};

/// A number, text, time, optional value, or a list of these, as JSON.
template <class Value>
std::string json(const Value& value) {
  if constexpr (std::is_same_v<Value, raw>) {
    return value.text;
  } else if constexpr (std::is_floating_point_v<Value>) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    return feedline::detail::json_string(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? json(*value) : "null";
  } else if constexpr (requires { value.count(); }) {
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(value).count());
  } else {
    std::string list;
    for (const auto& each : value) list += (list.empty() ? "" : ", ") + json(each);
    return '[' + list + ']';
  }
}

inline json_members members() {
  return {};
}

/// @param more Names and values in turn.
template <class Value, class... More>
json_members members(const char* name, const Value& value, const More&... more) {
  json_members made = members(more...);
  made.insert(made.begin(), {name, json(value)});
  return made;
}

inline raw object(const json_members& all) {
  feedline::detail::json_object made;
  for (const auto& [name, value] : all) made.member(name, value);
  return {made.text()};
}

}  // namespace doctor
