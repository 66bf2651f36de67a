#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/formats/open.hpp>

#include "programs/doctor/decoding/chunk_use.hpp"
#include "programs/doctor/findings.hpp"
#include "programs/doctor/request.hpp"

#include <functional>
#include <string>
#include <vector>

namespace doctor {

/// A field that a file offers.
struct offered_field {
  feedline::listed_field found;

  [[nodiscard]] bool is_row() const { return !found.is_ragged && found.left_out.empty(); }
};

/// The files and fields found, before any is opened as a dataset.
struct content {
  std::string path;                ///< path as given
  std::vector<std::string> files;  ///< files that it names; a folder counts as one
  std::string format = {};
  bool is_hdf5 = false;
  std::vector<offered_field> fields =
      {};  ///< fields of the first file; empty if only opening it tells them
};

/// Looks at a path's content: a file's, a folder's, that of the first of a pattern's files.
/// @throws feedline::usage_error if there is nothing, feedline::dataset_error if it cannot be read
/// or is of no format that is known.
/// @param how To open it: whether other files that it names are read.
[[nodiscard]] content look_at(const std::string& path, const feedline::open_options& how);

/// "(scale_factor 0.01, add_offset 280, missing -32768)"; empty if numbers are not packed.
[[nodiscard]] std::string packing_text(const feedline::value_packing& packing);

/// A dataset that was opened, and how to open it again.
struct subject {
  feedline::dataset_ptr samples;
  std::vector<chunk_use> arrays = {};  ///< arrays in chunks that samples are windows of
  bool is_windows = false;             ///< samples are windows of arrays
  std::function<feedline::dataset_ptr()> open;
  seconds opening{};
  std::string code;                ///< a C++ expression that opens it
  std::vector<std::string> notes;  ///< fields that were left out, and how to include them
};

/// Opens all paths side by side: rows as they are, values of varying length as images or padded, as
/// asked for.
/// @param found The content of each input.
/// @throws feedline::usage_error, feedline::dataset_error that say what to give.
[[nodiscard]] subject open_subject(const request& asked, const std::vector<content>& found);

/// Description of a dataset. @param cached Share of its files in the page cache.
[[nodiscard]] layout_facts layout_of(const subject& opened, const std::vector<content>& found,
                                     bool local, std::optional<double> cached);

}  // namespace doctor
