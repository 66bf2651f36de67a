#include "formats/parquet/folder.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view parquet_suffix = ".parquet";

bool counts_as_parquet(const folder_entry& of) {
  return !of.is_folder && of.name.ends_with(parquet_suffix) && !of.name.starts_with('.') &&
         !of.name.starts_with('_');
}

std::string path_in(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

/// The split that a file's name tells: "train" of "train-00000-of-00012.parquet" and of
/// "train.parquet"; else empty.
std::string split_of(std::string_view name) {
  const std::string_view stem = name.substr(0, name.size() - parquet_suffix.size());
  if (const auto of = stem.find("-of-"); of != std::string_view::npos && of != 0) {
    const auto dash = stem.rfind('-', of - 1);
    if (dash != std::string_view::npos) return std::string{stem.substr(0, dash)};
  }
  constexpr std::array known{"train", "test", "validation", "valid", "val", "dev", "eval"};
  return std::ranges::find(known, stem) != known.end() ? std::string{stem} : std::string{};
}

}  // namespace

bool is_parquet_folder(const std::string& path) try {
  if (kind_of_entry(path) != entry_kind::folder) return false;  // a web server's may be a page
  const auto entries = file_system_of(path)->list(path);
  const auto has_folder = [&](std::string_view name) {
    return std::ranges::any_of(
        entries, [&](const folder_entry& each) { return each.is_folder && each.name == name; });
  };
  if (has_folder("_delta_log") || (has_folder("metadata") && has_folder("data"))) return false;
  if (std::ranges::any_of(entries, counts_as_parquet)) return true;
  if (!has_folder("data")) return false;
  const std::string data = path_in(path, "data");
  return std::ranges::any_of(file_system_of(data)->list(data), counts_as_parquet);
} catch (const dataset_error&) {  // opening it says why it cannot be listed
  return false;
}

std::vector<std::string> parquet_files_in(const std::string& folder) {
  const auto found_in = [](const std::string& within) {
    std::vector<std::string> names;
    for (const folder_entry& each : file_system_of(within)->list(within))
      if (counts_as_parquet(each)) names.push_back(each.name);
    std::ranges::sort(names);
    return names;
  };
  std::string within = folder;
  std::vector<std::string> names = found_in(within);
  if (names.empty()) names = found_in(within = path_in(folder, "data"));
  std::set<std::string> splits;
  for (const std::string& each : names) splits.insert(split_of(each));
  if (splits.size() > 1)
    throw dataset_error{{.path = within, .field = {}},
                        "holds several splits: open each by itself, by a pattern in quotes such "
                        "as '" +
                            path_in(within, *splits.rbegin() + "*.parquet'")};
  for (std::string& each : names) each = path_in(within, each);
  return names;
}

}  // namespace feedline::detail
