#include <feedline/error.hpp>
#include <feedline/formats/array_files.hpp>
#include <feedline/formats/expand_paths.hpp>

#include "detail/log.hpp"
#include "detail/text.hpp"
#include "formats/array_files/container.hpp"
#include "formats/array_files/survey.hpp"
#include "formats/open/format_entry.hpp"
#include "io/file_system.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

bool is_array_file_name(std::string_view name) {
  constexpr std::array<std::string_view, 3> endings{".npz", ".npy", ".safetensors"};
  return std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
}

std::string path_within(const std::string& folder, const std::string& name) {
  return folder + (folder.ends_with('/') ? "" : "/") + name;
}

std::vector<std::string> visible_files(const std::string& folder) {
  std::vector<std::string> names;
  for (const folder_entry& each : file_system_of(folder)->list(folder))
    if (!each.is_folder && !each.name.starts_with('.')) names.push_back(each.name);
  std::ranges::sort(names);
  if (names.empty())
    throw dataset_error{{.path = folder, .field = {}},
                        "has no file; name the folder that has the files of arrays"};
  for (std::string& name : names) name = path_within(folder, name);
  return names;
}

std::shared_ptr<const sample_files> find_sample_files(const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw usage_error{"open_array_files: there is no file"};
  std::vector<std::string> paths;
  for (const std::string& path : expand_paths(patterns)) {
    if (kind_of_entry(path) == entry_kind::folder)
      std::ranges::copy(visible_files(path), std::back_inserter(paths));
    else
      paths.push_back(path);
  }
  return std::make_shared<const sample_files>(std::move(paths));
}

array_file_options array_options_of(const open_options& options) {
  return {.fields = options.fields, .pad = options.pad};
}

std::vector<listed_field> list_array_files(const std::string& folder, const open_options&) {
  const auto files = find_sample_files({folder});
  const array_survey survey = survey_arrays(*files, array_file_options{}.looked_at);
  std::vector<listed_field> listed;
  for (const array_field& each : survey.fields)
    listed.push_back({.name = each.array,
                      .samples = files->size(),
                      .spec = each.as.spec,
                      .is_ragged = each.as.is_ragged});
  for (const array_left_out& each : survey.left_out)
    listed.push_back({.name = each.name, .left_out = each.reason});
  return listed;
}

/// All files are arrays by name, the first also by content, and there is no folder of a class.
bool is_folder_of_arrays(const std::string& path) try {
  std::string first;
  for (const folder_entry& each : file_system_of(path)->list(path)) {
    if (each.name.starts_with('.')) continue;
    if (each.is_folder || !is_array_file_name(each.name)) return false;
    if (first.empty()) first = path_within(path, each.name);
  }
  return !first.empty() && is_array_file(*open_file(first));
} catch (const dataset_error&) {  // other formats have their say
  return false;
}

}  // namespace

format_entry array_files_format() {
  return {.name = "array_files",
          .known_as = "folders of .npz, .npy or .safetensors files that are a sample each",
          .open =
              [](const std::vector<std::string>& paths, const open_options& options) {
                return open_array_files(paths, array_options_of(options));
              },
          .list = list_array_files,
          .is_folder = is_folder_of_arrays,
          .takes_pad = true};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_array_files(const std::vector<std::string>& files,
                             const array_file_options& options) {
  const auto found = detail::find_sample_files(files);
  detail::array_survey survey = detail::survey_arrays(*found, options.looked_at);
  std::vector<std::string> left_out;
  for (const detail::array_left_out& each : survey.left_out) {
    if (std::ranges::count(options.fields, each.name) != 0)
      throw usage_error{"open_array_files: '" + detail::printable(each.name) +
                        "' cannot be a field: it " + each.reason};
    left_out.push_back("'" + each.name + "' " + each.reason);
  }
  if (options.fields.empty() && !left_out.empty())
    detail::log()->warn("open_array_files: arrays are left out: {}", detail::list_names(left_out));
  return detail::make_record_dataset("open_array_files", found,
                                     detail::make_array_file_decoder(std::move(survey.fields)),
                                     {.fields = options.fields, .pad = options.pad});
}

ragged_dataset_ptr open_array_files_ragged(const std::vector<std::string>& files,
                                           const std::string& field,
                                           const array_file_options& options) {
  const auto found = detail::find_sample_files(files);
  detail::array_survey survey = detail::survey_arrays(*found, options.looked_at);
  return detail::make_ragged_field(found, detail::make_array_file_decoder(std::move(survey.fields)),
                                   field);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
