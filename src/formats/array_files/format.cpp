#include <feedline/error.hpp>
#include <feedline/formats/array_files.hpp>
#include <feedline/formats/expand_paths.hpp>

#include "formats/array_files/container.hpp"
#include "formats/array_files/survey.hpp"
#include "formats/open/format_entry.hpp"
#include "io/file_system.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace feedline::detail {
namespace {

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
  return list_described(files->size(), survey.fields, survey.left_out);
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
  detail::report_left_out("open_array_files", "arrays", survey.left_out, options.fields);
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
