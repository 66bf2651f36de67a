#include "programs/inputs/side_by_side.hpp"

#include <feedline/dataset/select.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>

#include <cstddef>
#include <filesystem>
#include <set>
#include <utility>

namespace programs {

input input_of(const std::string& text) {
  const auto equals = text.find('=');
  const bool is_named = equals != std::string::npos && equals != 0 && text.find('/') > equals &&
                        !std::filesystem::exists(text);
  if (!is_named) return {{}, text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

feedline::dataset_ptr side_by_side(const std::vector<input>& inputs,
                                   std::vector<feedline::dataset_ptr> parts) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    feedline::dataset_ptr& part = parts[i];
    const input& from = inputs[i];
    if (!from.name.empty()) {
      const auto fields = part->fields();
      if (fields.size() != 1)
        throw feedline::usage_error{from.path + ": has " + std::to_string(fields.size()) +
                                    " fields, so '" + from.name + "' cannot name them"};
      part = feedline::select(part, {{fields.front().name, from.name}});
    }
    for (const feedline::field& field : part->fields())
      if (!names.insert(field.name).second)
        throw feedline::usage_error{from.path + ": there is a field '" + field.name +
                                    "' already: name this one with NAME=PATH"};
    if (part->size() != parts.front()->size())
      throw feedline::usage_error{from.path + ": has " + std::to_string(part->size()) +
                                  " samples, and " + inputs.front().path + " has " +
                                  std::to_string(parts.front()->size())};
  }
  return feedline::zip(std::move(parts));
}

}  // namespace programs
