#include "image/sets/path_list.hpp"

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "dataset/label_type.hpp"
#include "detail/printable.hpp"
#include "image/sets/named_paths.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::string_view white_space = " \t\r\v\f";

/// A line of a list.
struct listed_path {
  std::string path;
  std::string label;
  std::size_t list = 0;
  std::size_t line = 0;  ///< from 1
};

class list_reader {
 public:
  list_reader(const std::vector<std::string>& lists, const path_list_options& options)
      : lists_{lists}, options_{options} {
    for (std::size_t list = 0; list < lists.size(); ++list) read(list);
  }

  [[nodiscard]] const std::vector<listed_path>& paths() const noexcept { return paths_; }

  [[noreturn]] void refuse(const listed_path& at, const std::string& what) const {
    throw dataset_error{{.path = lists_[at.list], .field = {}},
                        "line " + std::to_string(at.line) + ": " + what};
  }

 private:
  void read(std::size_t list) {
    const std::string text = text_of_file(lists_[list]);
    const std::string root = options_.root.empty() ? folder_of(lists_[list]) : options_.root;
    const std::size_t before = paths_.size();
    std::string_view rest = text;
    for (std::size_t line = 1; !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      add(rest.substr(0, end), {.path = {}, .label = {}, .list = list, .line = line}, root);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (paths_.size() == before)
      throw dataset_error{{.path = lists_[list], .field = {}},
                          "lists no " + std::string{options_.thing}};
  }

  void add(std::string_view line, listed_path at, const std::string& root) {
    if (line.find('\0') != std::string_view::npos)
      refuse(at, "it has a byte 0, so this is no text file");
    line = line.substr(0, line.find_last_not_of(white_space) + 1);
    line.remove_prefix(std::min(line.find_first_not_of(white_space), line.size()));
    if (line.empty()) return;
    const std::size_t space = line.find_last_of(white_space);
    if (space == std::string_view::npos)
      refuse(at, "'" + printable(line) +
                     "' is one word, but there should be a path, white space and a label; "
                     "open_images opens images without labels");
    at.label = line.substr(space + 1);
    line = line.substr(0, line.find_last_not_of(white_space, space) + 1);
    at.path = path_below(root, std::string{line});
    paths_.push_back(std::move(at));
  }

  const std::vector<std::string>& lists_;
  const path_list_options& options_;
  std::vector<listed_path> paths_;
};

std::optional<std::uint64_t> as_number(const std::string& label) {
  std::uint64_t number = 0;
  const char* const end = label.data() + label.size();
  const auto [stop, fault] = std::from_chars(label.data(), end, number);
  if (fault != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// The classes in order; empty: labels are numbers.
std::vector<std::string> classes_of(const std::vector<listed_path>& files,
                                    const path_list_options& options) {
  std::vector<std::string> classes = options.classes;
  if (classes.empty()) {
    if (as_number(files.front().label)) return {};
    for (const listed_path& each : files) classes.push_back(each.label);
    std::ranges::sort(classes);
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  }
  return classes;
}

/// Finds the number of a label.
class label_numbers {
 public:
  label_numbers(const std::vector<std::string>& classes, std::string_view options)
      : options_{options} {
    for (std::size_t i = 0; i < classes.size(); ++i) sorted_.emplace_back(classes[i], i);
    std::ranges::sort(sorted_);
    const auto twice = std::ranges::adjacent_find(sorted_, {}, &entry::first);
    if (twice != sorted_.end())
      throw usage_error{std::string{options_} + "::classes has '" + twice->first + "' twice"};
  }

  [[nodiscard]] std::uint64_t of(const listed_path& file, const list_reader& read) const {
    if (sorted_.empty()) {
      if (const auto number = as_number(file.label)) return *number;
      read.refuse(
          file, "label '" + printable(file.label) + "' is no whole number, but the first label is");
    }
    const auto found = std::ranges::lower_bound(sorted_, file.label, {}, &entry::first);
    if (found != sorted_.end() && found->first == file.label) return found->second;
    read.refuse(file, "label '" + printable(file.label) + "' is not one of " +
                          std::string{options_} + "::classes");
  }

 private:
  using entry = std::pair<std::string, std::uint64_t>;
  std::string_view options_;
  std::vector<entry> sorted_;
};

}  // namespace

path_list read_path_lists(const std::vector<std::string>& lists, const path_list_options& options) {
  const std::uint64_t largest = largest_label(options.label_type);
  const list_reader read{lists, options};
  path_list result;
  result.classes = classes_of(read.paths(), options);
  const label_numbers numbers{result.classes, options.name};
  const std::size_t label_bytes = size_bytes(options.label_type);
  const auto labels = std::make_shared<std::vector<std::byte>>(read.paths().size() * label_bytes);
  for (const listed_path& each : read.paths()) {
    const std::uint64_t number = numbers.of(each, read);
    if (number > largest)
      read.refuse(each, "label '" + each.label + "' is number " + std::to_string(number) +
                            ", but " + std::string{to_string(options.label_type)} +
                            " counts only to " + std::to_string(largest) + "; choose a larger " +
                            std::string{options.name} + "::label_type");
    write_label(number, options.label_type,
                std::span{*labels}.subspan(result.paths.size() * label_bytes, label_bytes));
    result.paths.push_back(each.path);
  }
  if (const auto missing = first_missing(result.paths))
    read.refuse(read.paths()[*missing],
                "there is no file " + printable(result.paths[*missing]) +
                    "; relative paths begin at " +
                    (options.root.empty() ? "the list's folder" : options.root));
  const class_names names = result.classes.empty() ? class_names{} : class_names{result.classes};
  result.labels =
      make_memory_dataset({{{"label", options.label_type, {}, {}, {}, names}, *labels, labels}});
  return result;
}

bool is_path_list(std::string_view text, const std::string& folder) {
  constexpr std::size_t looked_at = 3;
  std::size_t found = 0;
  while (found < looked_at) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    line = line.substr(0, line.find_last_not_of(white_space) + 1);
    if (line.empty()) continue;
    const std::size_t space = line.find_last_of(white_space);
    if (space == std::string_view::npos || space == 0) return false;
    const std::string_view path = line.substr(0, line.find_last_not_of(white_space, space) + 1);
    if (path.empty() || kind_of_entry(path_below(folder, std::string{path})) != entry_kind::file)
      return false;
    ++found;
  }
  return found != 0;
}

}  // namespace feedline::detail
