#pragma once

#include "detail/json/flat_json.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace feedline::detail {

/// Writes an object of JSON (RFC 8259), member by member. No name is checked to be new.
class json_object {
 public:
  /// A number, `true`, `false`, or a text that is JSON already. A number that JSON cannot express
  /// (infinite, or NaN) becomes null.
  template <class Value>
  json_object& member(const std::string& name, const Value& value) {
    text_ += (text_.empty() ? "" : ", ") + json_string(name) + ": ";
    if constexpr (std::is_same_v<Value, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<Value>) {
      std::array<char, 32> number{};
      const auto end = std::to_chars(number.data(), number.data() + number.size(), value).ptr;
      if (std::isfinite(value))
        text_.append(number.data(), end);
      else
        text_ += "null";
    } else if constexpr (std::is_integral_v<Value>) {
      text_ += std::to_string(value);
    } else {
      text_ += value;
    }
    return *this;
  }
  /// Whole nanoseconds, as NAME_ns.
  json_object& time(const std::string& name, std::chrono::nanoseconds value) {
    return member(name + "_ns", value.count());
  }
  json_object& string(const std::string& name, std::string_view value) {
    return member(name, json_string(value));
  }
  /// @param values Each JSON already.
  json_object& array(const std::string& name, const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return member(name, '[' + text + ']');
  }
  [[nodiscard]] std::string text() const { return '{' + text_ + '}'; }

 private:
  std::string text_;
};

}  // namespace feedline::detail
