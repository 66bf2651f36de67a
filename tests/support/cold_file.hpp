#pragma once

#include "dataset/residency.hpp"

#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace feedline::test {

/// Writes a file to the disk and drops it from memory (fsync, POSIX_FADV_DONTNEED); pages that are mapped stay.
/// @return What share of it is left in memory, 0 to 1: all, where the system does not tell.
inline double drop_from_memory(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error{errno, std::generic_category(), "open " + path.string()};
  (void)::fsync(file);
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  const double left = detail::resident_share(file, std::filesystem::file_size(path)).value_or(1.0);
  (void)::close(file);
  return left;
}

}  // namespace feedline::test
