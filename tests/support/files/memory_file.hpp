#pragma once

#include "io/local/file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>

namespace feedline::test {

/// A file of these bytes that lies in memory and has no path.
[[nodiscard]] inline detail::byte_file_ptr memory_file(
    std::span<const std::byte> bytes, detail::file_access how = detail::file_access::automatic) {
  struct descriptor {
    int value = ::memfd_create("feedline-test", MFD_CLOEXEC);
    descriptor() = default;
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { ::close(value); }
  };
  const descriptor file;
  if (::write(file.value, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error{"a file in memory cannot be written"};
  return std::make_shared<const detail::local_file>(file.value, "", how);  // has a duplicate
}

}  // namespace feedline::test
