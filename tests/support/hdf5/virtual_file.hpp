#pragma once

#include <feedline/dataset/dataset.hpp>

#include "support/hdf5/writer.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::test {

/// Virtual datasets "x" and "again" over the same datasets "x" of files of their own: a sample is
/// its number, once, and what the library makes up for a sample is `made_up`.
struct virtual_file {
  static constexpr std::uint64_t rows_per_source = 4;
  static constexpr std::uint32_t made_up = 0xFFFF'FFFF;

  /// @param names Names of the sources in the file; those without a folder are written beside it.
  /// @param folder Folder of the file, "v.h5".
  virtual_file(const std::filesystem::path& folder, const std::vector<std::string>& names);

  std::filesystem::path path;
  std::vector<std::filesystem::path> sources;
  std::uint64_t samples;

  /// "s0000.h5", "s0001.h5", …
  [[nodiscard]] static std::vector<std::string> numbered(std::size_t count);
};

/// Writes samples [first, first + count) as "x" to a file.
void write_numbers(const std::filesystem::path& path, std::uint64_t first, std::uint64_t count);

/// Those of the one field of `data`, from `first` on. @throws as `dataset::read`.
[[nodiscard]] std::vector<std::uint32_t> read_numbers(const dataset& data, std::uint64_t first,
                                                      std::uint64_t count);

/// first, first + 1, …
[[nodiscard]] std::vector<std::uint32_t> numbers(std::uint64_t first, std::uint64_t count);

}  // namespace feedline::test
