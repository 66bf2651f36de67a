#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace feedline::detail {

/// A value that an object of `read_flat_json` may have.
using flat_json_value = std::variant<std::uint64_t, std::string, std::vector<std::string>>;

/// An error in a text, and the byte where it is.
class json_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads an object of JSON (RFC 8259) whose values are whole numbers from 0, strings, and arrays of
/// strings. Calls `member` for each of its members, as soon as it is read.
/// @throws json_error if the text is anything else, or continues after the object.
void read_flat_json(
    std::string_view text,
    const std::function<void(const std::string& name, flat_json_value value)>& member);

/// The text as a JSON string, in quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace feedline::detail
