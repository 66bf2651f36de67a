#ifdef FEEDLINE_HAS_JSON

#include "formats/columns/index_json.hpp"

#include "detail/printable.hpp"
#include "io/file_system.hpp"

#include <limits>
#include <utility>

namespace feedline::detail {

std::string read_index_text(const std::string& path) {
  std::string text;
  (void)file_system_of(path)->read_whole(path, [&](std::size_t bytes) {
    text.resize(bytes);
    return std::as_writable_bytes(std::span{text});
  });
  return text;
}

nlohmann::json parse_index(const std::string& text, const std::string& path) {
  constexpr int max_depth = 64;
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = path, .field = {}}, "the index is " + why + "; get it again"};
  };
  const auto check = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > max_depth) throw refusal("nested more than 64 levels deep");
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::exception& error) {
    throw refusal("no JSON (" + printable(error.what()) + ')');
  }
}

std::string path_beside(const std::string& index, const std::string& name) {
  const std::string parts = '/' + name + '/';
  const bool leaves = name.empty() || name.front() == '/' ||
                      parts.find("/../") != std::string::npos ||
                      name.find('\0') != std::string::npos || name.find(':') != std::string::npos;
  if (leaves)
    throw dataset_error{{.path = index, .field = {}},
                        "the index names the file '" + printable(name) +
                            "', which is not below its folder; write the index again"};
  return index.substr(0, index.find_last_of('/') + 1) + name;
}

index_object::index_object(const nlohmann::json& value, std::string path, std::string what)
    : value_{&value}, path_{std::move(path)}, what_{std::move(what)} {
  if (!value.is_object()) refuse("is no object");
}

const nlohmann::json* index_object::find(const char* name) const {
  const auto found = value_->find(name);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json& index_object::at(const char* name, const char* wanted) const {
  if (const nlohmann::json* const found = find(name)) return *found;
  refuse(std::string{"has no \""} + name + "\", which should be " + wanted);
}

std::string index_object::text(const char* name) const {
  const nlohmann::json& value = at(name, "a text");
  if (!value.is_string()) refuse(std::string{"has \""} + name + "\" that is no text");
  return value.get<std::string>();
}

std::string index_object::text_or_empty(const char* name) const {
  return find(name) == nullptr ? std::string{} : text(name);
}

std::uint64_t index_object::whole(const char* name) const {
  const nlohmann::json& value = at(name, "a whole number");
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    refuse(std::string{"has \""} + name + "\" that is no whole number, 0 or more");
  return value.get<std::uint64_t>();
}

const nlohmann::json& index_object::list(const char* name) const {
  const nlohmann::json& value = at(name, "a list");
  if (!value.is_array()) refuse(std::string{"has \""} + name + "\" that is no list");
  return value;
}

std::vector<std::string> index_object::texts(const char* name) const {
  std::vector<std::string> all;
  for (const nlohmann::json& each : list(name)) {
    if (!each.is_string()) refuse(std::string{"has \""} + name + "\" that is no list of texts");
    all.push_back(each.get<std::string>());
  }
  return all;
}

index_object index_object::object(const char* name) const {
  return {at(name, "an object"), path_, what_ + ", \"" + name + '"'};
}

void index_object::refuse(const std::string& message) const {
  throw dataset_error{{.path = path_, .field = {}},
                      what_ + ' ' + message + "; write the index again"};
}

}  // namespace feedline::detail

#endif
