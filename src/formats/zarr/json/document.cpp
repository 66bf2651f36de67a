#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/json/document.hpp"

#include <feedline/error.hpp>

#include "detail/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

constexpr int max_json_depth = 64;
constexpr std::size_t max_rank = 32;

/// Quotes the words for numbers that JSON does not have, outside of texts.
std::string with_quoted_words(std::string_view text, zarr_words as) {
  const bool are_objects = as == zarr_words::objects;
  constexpr std::array<std::string_view, 3> words{"-Infinity", "Infinity", "NaN"};
  std::string quoted;
  quoted.reserve(text.size());
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_text) {
      const std::size_t count = c == '\\' && i + 1 < text.size() ? 2 : 1;
      quoted += text.substr(i, count);
      i += count;
      in_text = c != '"';
      continue;
    }
    const auto* const word = std::ranges::find_if(
        words, [&](std::string_view each) { return text.substr(i).starts_with(each); });
    if (word != words.end()) {
      quoted.append(are_objects ? R"({"":")" : "\"").append(*word);
      quoted.append(are_objects ? R"("})" : "\"");
      i += word->size();
      continue;
    }
    in_text = c == '"';
    quoted += c;
    ++i;
  }
  return quoted;
}

}  // namespace

zarr_json parse_zarr_json(std::string_view text, const file_field& where, zarr_words words) {
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = where.path, .field = where.field},
                         why + where.note + "; write the metadata again"};
  };
  std::vector<std::set<std::string>> names;
  const auto check = [&](int depth, zarr_json::parse_event_t event, zarr_json& parsed) {
    if (depth > max_json_depth)
      throw refusal("nested more than " + std::to_string(max_json_depth) + " levels deep");
    if (event == zarr_json::parse_event_t::object_start) names.emplace_back();
    if (event == zarr_json::parse_event_t::object_end) names.pop_back();
    if (event == zarr_json::parse_event_t::key &&
        !names.back().insert(parsed.get<std::string>()).second)
      throw refusal("an object has two members named '" + printable(parsed.get<std::string>()) +
                    "'");
    return true;
  };
  try {
    return zarr_json::parse(with_quoted_words(text, words), check);
  } catch (const zarr_json::exception& error) {
    throw refusal("no JSON: " + printable(error.what()));
  }
}

std::string shown(const zarr_json& value) {
  constexpr std::size_t max_bytes = 60;
  const bool is_deep = value.is_object() || std::ranges::any_of(value, &zarr_json::is_structured);
  if (is_deep) return value.is_object() ? "an object" : "a list of lists or objects";
  std::string text = value.dump(-1, ' ', true, zarr_json::error_handler_t::replace);
  if (text.size() > max_bytes) text.replace(max_bytes, text.npos, "...");
  return printable(text);
}

zarr_members::zarr_members(const zarr_json& object, file_field where, std::string what)
    : object_{&object}, where_{std::move(where)}, what_{std::move(what)} {
  if (!object.is_object()) refuse("is " + shown(object) + ", but should be an object");
}

const zarr_json* zarr_members::find(const char* name) const {
  const auto found = object_->find(name);
  return found == object_->end() ? nullptr : &*found;
}

const zarr_json& zarr_members::at(const char* name) const {
  const zarr_json* const found = find(name);
  if (found == nullptr) refuse(std::string{"has no \""} + name + '"');
  return *found;
}

std::string zarr_members::text(const char* name) const {
  const zarr_json& value = at(name);
  if (!value.is_string()) refuse_member(name, "a text");
  return value.get<std::string>();
}

std::uint64_t zarr_members::whole(const char* name) const {
  const zarr_json& value = at(name);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    refuse_member(name, "a whole number, 0 or more");
  return value.get<std::uint64_t>();
}

std::vector<std::uint64_t> zarr_members::wholes(const char* name) const {
  const zarr_json& value = at(name);
  if (!value.is_array()) refuse_member(name, "a list of whole numbers");
  if (value.size() > max_rank)
    refuse(std::string{"has "} + std::to_string(value.size()) + " dimensions in \"" + name +
           "\", and 32 are the most");
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::vector<std::uint64_t> numbers;
  for (const zarr_json& each : value) {
    if (!each.is_number_unsigned() || each.get<std::uint64_t>() > most)
      refuse_member(name, "a list of whole numbers, 0 or more");
    numbers.push_back(each.get<std::uint64_t>());
  }
  return numbers;
}

std::vector<std::uint64_t> zarr_members::extents(const char* name) const {
  auto numbers = wholes(name);
  if (std::ranges::count(numbers, 0U) != 0) refuse_member(name, "a list of numbers, 1 or more");
  return numbers;
}

void zarr_members::refuse(const std::string& message) const {
  throw dataset_error{{.path = where_.path, .field = where_.field},
                      what_ + ' ' + message + where_.note};
}

void zarr_members::leave_out(const std::string& message) const {
  throw zarr_not_a_field{{.path = where_.path, .field = where_.field},
                         what_ + ' ' + message + where_.note};
}

void zarr_members::refuse_member(const char* name, const std::string& wanted) const {
  refuse(std::string{"has \""} + name + "\": " + shown(at(name)) + ", but should have " + wanted);
}

}  // namespace feedline::detail

#endif
