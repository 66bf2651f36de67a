/// Fuzz target of what reads the texts of states: any bytes are an object whose members, written
/// again, read as the same, or a json_error that says where.

#include "detail/json/flat_json.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

using namespace feedline;

namespace {

using members = std::vector<std::pair<std::string, detail::flat_json_value>>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "flat_json_fuzz: does not hold: %s\n", what);
  std::abort();
}

std::optional<members> read(std::string_view text) {
  members found;
  try {
    detail::read_flat_json(text, [&](const std::string& name, detail::flat_json_value value) {
      found.emplace_back(name, std::move(value));
    });
    return found;
  } catch (const detail::json_error& error) {
    require(std::string_view{error.what()}.find("byte") != std::string_view::npos,
            "an error says where");
    return std::nullopt;
  }
}

std::string text_of(const detail::flat_json_value& value) {
  if (const auto* const number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* const text = std::get_if<std::string>(&value)) return detail::json_string(*text);
  std::string all;
  for (const std::string& each : std::get<std::vector<std::string>>(value))
    all += (all.empty() ? "" : ",") + detail::json_string(each);
  return "[" + all + "]";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = read({reinterpret_cast<const char*>(data), size});
  if (!found) return 0;
  std::string text;
  for (const auto& [name, value] : *found)
    text += (text.empty() ? "" : ",") + detail::json_string(name) + ":" + text_of(value);
  require(read("{" + text + "}") == found, "what is written reads as the same");
  return 0;
}
