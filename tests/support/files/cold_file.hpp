#pragma once

#include "io/local/watch.hpp"

#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>

namespace feedline::test {

/// Writes a file to the disk and drops it from memory (fsync, POSIX_FADV_DONTNEED); pages that are
/// mapped stay. Throws where the system refuses.
/// @return Share of it that is left in memory, 0 to 1; 1 if the system does not tell.
inline double drop_from_memory(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error{errno, std::generic_category(), "open " + path.string()};
  const bool asked = ::fsync(file) == 0 && ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
  const double left = detail::resident_share(file, std::filesystem::file_size(path)).value_or(1.0);
  (void)::close(file);
  if (!asked) throw std::runtime_error{"cannot drop " + path.string() + " from memory"};
  return left;
}

}  // namespace feedline::test
