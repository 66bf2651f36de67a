#pragma once

#include <feedline/formats/open.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace convert {

/// The files and folders that inputs name, patterns' among them.
/// @throws feedline::usage_error if there is no such; feedline::dataset_error of a pattern.
[[nodiscard]] std::vector<std::filesystem::path> paths_of(const std::vector<std::string>& inputs);

/// A dataset, and words that name where it comes from: paths, sizes and times of change.
struct source {
  feedline::dataset_ptr samples;
  std::string words;
};

/// Opens files and folders as one dataset: a sample is a sample of each.
/// @param inputs Each a PATH, or NAME=PATH where its only field is to have that name. Files that a pattern
///        names (`feedline::expand_paths`) are one input, one after the other.
/// @throws feedline::usage_error, feedline::dataset_error.
[[nodiscard]] source open_source(const std::vector<std::string>& inputs,
                                 const feedline::open_options& how = {});

}  // namespace convert
