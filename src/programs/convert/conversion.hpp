#pragma once

#include <feedline/error_policy.hpp>
#include <feedline/formats/open.hpp>

#include "programs/convert/attributes/attributes.hpp"
#include "programs/convert/output/job.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
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
  carried_attributes carried = {};
};

/// Contents of inputs that are carried over besides samples.
struct carrying {
  bool attributes = false;  ///< those of HDF5 files and Zarr stores; numbers stay packed
  bool groups = false;      ///< fields have their paths in the input as names
};

/// Opens files and folders as one dataset: a sample is a sample of each.
/// @param inputs Each a PATH, or NAME=PATH where its only field is to have that name. Files that a
/// pattern
///        names (`feedline::expand_paths`) are one input, one after the other.
/// @throws feedline::usage_error, feedline::dataset_error.
[[nodiscard]] source open_source(const std::vector<std::string>& inputs,
                                 const feedline::open_options& how = {},
                                 const carrying& carry = {});

/// Refuses a job whose output, or the folder in which that is made, is an input, contains one or
/// lies inside one, whatever links and mounts they are named by. Links within input folders are
/// followed.
/// @throws feedline::usage_error.
void require_apart_from_inputs(const job& job);

/// The output as it was written and read back.
struct converted {
  std::uint64_t samples = 0;
  std::uint64_t resumed_from = 0;  ///< samples that an earlier run had written
  std::vector<feedline::field> fields;
  std::vector<std::uint32_t> checksums;  ///< CRC-32 of each field's bytes, in the output's order
  /// Samples in order of their index; empty unless asked to skip.
  std::vector<feedline::sample_failure> left_out = {};
};

/// Progress of a conversion.
enum class step : std::uint8_t {
  checking,  ///< reads what an earlier run left
  writing,
  verifying,  ///< reads the output back
  searching,  ///< reads the input once, for samples that cannot be read
};

using progress = std::function<void(step now, std::uint64_t done, std::uint64_t samples)>;

/// Writes a dataset out in another format, reads it back, compares, and only then renames it to its
/// final name.
///
/// At every checkpoint everything written so far is on the disk, and a journal beside it records
/// it. A conversion that was cut short by an error, a signal or a power failure continues from
/// there when it is called again with an equal job. Before that, the files are compared with the
/// journal's checksums.
/// @throws feedline::error, std::exception: what reading and writing throw; the unfinished output
/// stays.
converted run(const feedline::dataset_ptr& from, const job& job, const progress& tell);

}  // namespace convert
