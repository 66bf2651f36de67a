#pragma once

#include <feedline/formats/open.hpp>

#include "programs/convert/work/job.hpp"

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
/// @param inputs Each a PATH, or NAME=PATH where its only field is to have that name. Files that a
/// pattern
///        names (`feedline::expand_paths`) are one input, one after the other.
/// @throws feedline::usage_error, feedline::dataset_error.
[[nodiscard]] source open_source(const std::vector<std::string>& inputs,
                                 const feedline::open_options& how = {});

/// Refuses a job whose output, or the folder in which that is made, is an input, contains one or
/// lies inside one, whatever links and mounts they are named by. Links within input folders are
/// followed.
/// @throws feedline::usage_error.
void require_apart_from_inputs(const job& job);

}  // namespace convert
