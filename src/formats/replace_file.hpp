#pragma once

#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace feedline::detail {

/// Makes an empty file beside another one, under a name that no other process or thread has.
inline std::string make_beside(const std::string& file) {
  const std::string begin = file + '.' + std::to_string(::getpid()) + '-';
  for (int number = 0;; ++number) {
    std::string name = begin + std::to_string(number) + ".unfinished";
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0) {
      ::close(made);
      return name;
    }
    if (errno != EEXIST)
      throw std::runtime_error{name +
                               ": cannot be written: " + std::generic_category().message(errno)};
  }
}

/// Replaces a file by a new one once that is whole; else the old one stays.
/// @param body Writes to a `std::ostream`. @throws std::runtime_error with the reason; what `body`
/// throws.
template <class Body>
void replace_file(const std::string& file, Body body) {
  const std::string unfinished = make_beside(file);
  try {
    std::ofstream out{unfinished, std::ios::binary | std::ios::trunc};
    body(out);
    out.close();
    if (!out) throw std::runtime_error{unfinished + ": cannot be written; is the disk full?"};
    std::filesystem::rename(unfinished, file);
  } catch (...) {
    (void)::unlink(unfinished.c_str());
    throw;
  }
}

}  // namespace feedline::detail
