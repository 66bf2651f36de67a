#pragma once

#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <vector>

namespace feedline::detail {

/// A file, and the bytes of each value in it.
struct values_in_file {
  byte_file_ptr file;
  std::vector<byte_range> values;  ///< within the file
};

/// The values of several files, file after file: records of a format that has its own framing.
[[nodiscard]] coded_values_ptr make_file_values(std::vector<values_in_file> files);

}  // namespace feedline::detail
