#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace feedline::test {

/// Memory at a multiple of 256 that is zero because the system gives it so. Most of a loader's
/// slots is never touched in a test, and a sanitizer writes some bytes for each byte that is.
inline void* allocate_zeroed(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  void* const whole = std::calloc(bytes + alignment, 1);
  if (whole == nullptr) throw std::bad_alloc{};
  const std::size_t skipped = alignment - reinterpret_cast<std::uintptr_t>(whole) % alignment;
  std::byte* const memory = static_cast<std::byte*>(whole) + skipped;
  std::memcpy(memory - sizeof whole, &whole, sizeof whole);
  return memory;
}

inline void free_zeroed(void* memory) noexcept {
  void* whole = nullptr;
  std::memcpy(&whole, static_cast<const std::byte*>(memory) - sizeof whole, sizeof whole);
  std::free(whole);
}

}  // namespace feedline::test
