#include <feedline/dataset/select.hpp>
#include <feedline/error.hpp>
#ifdef FEEDLINE_HAS_HDF5
#include <feedline/hdf5/dataset.hpp>
#endif

#include "detail/printable.hpp"
#include "programs/convert/conversion.hpp"
#include "programs/inputs/command_line.hpp"
#include "programs/inputs/entry.hpp"
#include "programs/inputs/side_by_side.hpp"

#include <spdlog/fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// "2026-03-01 17:20:05.123456789 UTC".
std::string to_string(fs::file_time_type time) {
  using namespace std::chrono;
  const auto since_1970 = fs::file_time_type::clock::to_sys(time).time_since_epoch();
  const auto whole = floor<seconds>(since_1970);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09} UTC", fmt::gmtime(whole.count()),
                     nanoseconds{since_1970 - whole}.count());
}

/// Size and time of the last change, of a file or of all files in a folder.
std::string state_of(const fs::path& path) {
  if (programs::is_address(path)) return programs::version_of_address(path);
  std::uintmax_t bytes = 0;
  fs::file_time_type changed = fs::last_write_time(path);
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator{path})
      if (entry.is_regular_file()) {
        bytes += entry.file_size();
        changed = std::max(changed, entry.last_write_time());
      }
  } else {
    bytes = fs::file_size(path);
  }
  return std::to_string(bytes) + " bytes, changed at " + to_string(changed);
}

/// Other options that the samples depend on.
std::string words_of(const feedline::open_options& how) {
  std::string words = fmt::format(
      "images {} x {}, shorter side {}; {} tokens a sample; labels {}; fields", how.image.height,
      how.image.width, how.image.shorter_side, how.tokens_per_sample, to_string(how.label_type));
  for (const std::string& name : how.fields) words += ' ' + name;
  if (!how.like.empty()) words += " like " + how.like;
  if (how.image.interpolation != feedline::interpolation::bilinear)
    words += "; images are resized " + programs::name_of(how.image.interpolation);
  if (how.image.follow_orientation) words += "; images are turned by EXIF";
  return words + '\n';
}

/// Whether a folder is one of those above a path that has no links, or that path itself.
bool is_at_or_above(const fs::path& folder, fs::path path) {
  for (;; path = path.parent_path()) {
    if (fs::equivalent(path, folder)) return true;
    if (path == path.root_path()) return false;
  }
}

fs::path folder_of(const fs::path& path) {
  return fs::canonical(fs::absolute(path).parent_path());
}

void require_apart(const fs::path& output, const fs::path& input) {
  if (!fs::exists(input) || !fs::exists(fs::absolute(output).parent_path())) return;
  std::string relation;
  if (is_at_or_above(input, folder_of(output))) relation = "lies inside";
  if (fs::exists(output)) {
    if (is_at_or_above(output, fs::canonical(input)) || is_at_or_above(output, folder_of(input)))
      relation = "contains";
    if (fs::equivalent(output, input)) relation = "is";
  }
  if (!relation.empty())
    throw feedline::usage_error{
        fmt::format("{}: {} the input {}, which --force would not save: choose another --output",
                    output.string(), relation, input.string())};
}

/// An input, and what links within it lead to.
std::vector<fs::path> reached_from(const fs::path& input) {
  if (programs::is_address(input)) return {};
  std::vector<fs::path> reached{input};
  if (!fs::is_directory(input)) return reached;
  for (const auto& entry : fs::recursive_directory_iterator{input})
    if (entry.is_symlink()) reached.push_back(entry.path());
  return reached;
}

}  // namespace

std::vector<fs::path> paths_of(const std::vector<std::string>& inputs) {
  std::vector<fs::path> paths;
  for (const std::string& text : inputs) {
    for (const std::string& name : programs::files_of(programs::input_of(text).path)) {
      fs::path path{name};
      if (!programs::is_there(name))
        throw feedline::usage_error{path.string() + ": no such file or folder"};
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

namespace {

/// Opens a file with packed numbers as they are stored, since their attributes are carried over.
feedline::dataset_ptr open_as_stored(const std::string& file, const feedline::open_options& how) {
#ifdef FEEDLINE_HAS_HDF5
  if ((how.format.empty() ? feedline::detect_format(file) : how.format) != "hdf5")
    return feedline::open(file, how);
  const auto bare = [](const std::string& name) {
    return name.starts_with('/') ? name.substr(1) : name;
  };
  const auto listed = feedline::list_fields(file, how);
  const auto is_packed = [](const feedline::listed_field& each) {
    return !each.refusal.empty() && each.packing.changes_values();
  };
  const auto like = std::ranges::find_if(
      listed, [&](const auto& each) { return bare(each.name) == bare(how.like); });
  std::vector<feedline::hdf5_field> fields;
  for (const std::string& name : how.fields) fields.push_back({name});
  bool needs = false;  // some are packed, and all others can be read
  for (const feedline::listed_field& each : listed) {
    const bool is_named = std::ranges::any_of(
        how.fields, [&](const std::string& name) { return bare(name) == bare(each.name); });
    const bool is_wanted = how.fields.empty()
                               ? each.left_out.empty() && !each.is_ragged &&
                                     (like == listed.end() || each.samples == like->samples)
                               : is_named;
    if (!is_wanted) continue;
    if (!each.refusal.empty() && !is_packed(each)) return feedline::open(file, how);
    needs = needs || is_packed(each);
    if (how.fields.empty()) fields.push_back({each.name});
  }
  if (needs)
    return feedline::open_hdf5(
        file, std::move(fields),
        {.external = how.external, .conventions = feedline::value_conventions::ignore});
#endif
  return feedline::open(file, how);
}

/// Gives fields their paths in the input as names.
feedline::dataset_ptr with_paths(const feedline::dataset_ptr& opened,
                                 const std::vector<field_origin>& origins) {
  std::vector<feedline::selected_field> named;
  const auto fields = opened->fields();
  for (std::size_t f = 0; f < fields.size(); ++f)
    named.emplace_back(fields[f].name,
                       origins[f].object.empty() ? fields[f].name : origins[f].object);
  return feedline::select(opened, named);
}

}  // namespace

source open_source(const std::vector<std::string>& inputs, const feedline::open_options& how,
                   const carrying& carry) {
  std::vector<field_origin> origins;
  std::vector<programs::input> from;
  std::vector<feedline::dataset_ptr> parts;
  std::string words = words_of(how);
  for (const std::string& text : inputs) {
    from.push_back(programs::input_of(text));
    const std::vector<fs::path> paths = paths_of({text});
    const bool is_one = carry.attributes && paths.size() == 1;
    parts.push_back(
        is_one ? open_as_stored(paths.front(), how)
               : feedline::open(std::vector<std::string>(paths.begin(), paths.end()), how));
    if (carry.attributes) {
      auto own = origins_of(paths.front(), *parts.back(), how);
      const bool keeps_groups = carry.groups && from.back().name.empty();
      for (field_origin& each : own) {
        each.keeps_groups = keeps_groups;
        if (!each.file.empty()) each.others.assign(paths.begin() + 1, paths.end());
      }
      if (keeps_groups) parts.back() = with_paths(parts.back(), own);
      origins.insert(origins.end(), own.begin(), own.end());
    }
    words += "from " + feedline::detail::without_secrets(text) + ", ";
    for (const fs::path& path : paths) {
      if (paths.size() > 1)
        words += "\n  " + feedline::detail::path_without_secrets(path.string()) + ", ";
      words += state_of(path);
    }
    words += '\n';
  }
  source made{programs::side_by_side(from, std::move(parts)), words, {}};
  if (carry.attributes) made.carried = read_attributes(origins, how.external);
  return made;
}

void require_apart_from_inputs(const job& job) {
  for (const fs::path& given : job.inputs)
    for (const fs::path& input : reached_from(given)) {
      require_apart(job.output, input);
      require_apart(job.work(), input);
    }
}

}  // namespace convert
