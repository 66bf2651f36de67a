#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace feedline::bench {

/// How much data a form has.
struct form_sizes {
  std::uint64_t bytes = 0;            ///< bytes of rows, about
  std::uint64_t row_bytes = 150'528;  ///< bytes of a row: 224 x 224 x 3
  std::uint64_t window_bytes = 0;     ///< decoded bytes of chunks that are mixed
};

/// Data as it was written, and how it is read.
struct written_form {
  std::vector<std::string> files;  ///< names in the folder; the first is the one to be opened
  std::uint64_t row_bytes = 0;
  std::uint64_t stored_bytes = 0;   ///< size of the files together
  std::uint64_t request_bytes = 0;  ///< bytes of one row or chunk, as a bare client asks for them
  std::function<dataset_ptr(const std::string& address)> open;  ///< @param address Ends in '/'.
  sampler order;
  decode_on decodes = decode_on::cpu;
  bool is_one_array = false;  ///< one file of rows, one after the other
};

/// A way in which rows are stored and taken.
struct form {
  std::string name;
  std::string words;
  written_form (*write)(const std::filesystem::path& folder, const form_sizes& sizes);
};
/// npy in windows and in full shuffle, tar shards, HDF5 in chunks, and compressed where the build
/// has the encoders.
[[nodiscard]] const std::vector<form>& all_forms();

}  // namespace feedline::bench
