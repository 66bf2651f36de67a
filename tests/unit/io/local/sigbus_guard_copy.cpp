/// A second copy of the library in the process of `sigbus_guard_program.cpp`, as a plugin would
/// bring one: it guards one mapping.

#include "io/local/mapping.hpp"

#include <cstddef>
#include <memory>

namespace {

std::unique_ptr<const feedline::detail::file_mapping> mapping;

}  // namespace

extern "C" {

__attribute__((visibility("default"))) bool copy_guards(int file, std::size_t bytes) {
  mapping = feedline::detail::file_mapping::of(file, bytes);
  return mapping != nullptr;
}

__attribute__((visibility("default"))) bool copy_is_in_use() {
  return feedline::detail::file_mapping::handler_in_use();
}

/// Reads the mapping's first byte.
__attribute__((visibility("default"))) bool copy_reads_lost_zero() {
  const volatile std::byte* const first = mapping->bytes().data();
  return *first == std::byte{0} && mapping->lost();
}
}
