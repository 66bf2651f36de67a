#include "formats/open/format_entry.hpp"

#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>

#include "detail/text.hpp"

#include <utility>

namespace feedline::detail {
namespace {

std::string words_of(const std::vector<field>& fields) {
  std::vector<std::string> words;
  for (const field& each : fields) words.push_back(to_string(each));
  return list_names(words);
}

}  // namespace

dataset_ptr open_each(const std::vector<std::string>& files,
                      const std::function<dataset_ptr(const std::string&)>& open_one) {
  std::vector<dataset_ptr> parts;
  for (const std::string& path : files) {
    parts.push_back(open_one(path));
    if (parts.back()->fields() != parts.front()->fields())
      throw dataset_error{{.path = path, .field = {}},
                          "has the fields " + words_of(parts.back()->fields()) + ", but " +
                              files.front() + " has " + words_of(parts.front()->fields()) +
                              "; files that are opened together have the same fields"};
  }
  return parts.size() == 1 ? parts.front() : concatenate(std::move(parts));
}

std::string only_name(const open_options& options, std::string_view format,
                      const std::string& otherwise) {
  if (options.fields.empty()) return otherwise;
  if (options.fields.size() == 1) return options.fields.front();
  throw usage_error{"open: a file of the format " + std::string{format} +
                    " becomes one field, but open_options::fields names " +
                    std::to_string(options.fields.size())};
}

std::vector<listed_field> list_opened(const dataset& opened) {
  std::vector<listed_field> listed;
  for (const field& spec : opened.fields())
    listed.push_back({.name = spec.name, .samples = opened.size(), .spec = spec});
  return listed;
}

}  // namespace feedline::detail
